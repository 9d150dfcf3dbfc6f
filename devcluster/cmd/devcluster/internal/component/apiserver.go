package component

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localwebhook"
)

// runAPIServer is the API server, which finds webhooks where the environment says, if it does.
func runAPIServer() int {
	redirect, err := localwebhook.FromEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		return 1
	}
	if redirect != nil {
		// The name is Kubernetes'; it is the one way to give the API server a resolver.
		defer apiserver.SetServiceResolverForTests(redirect)()
	}
	return cli.Run(apiserver.NewAPIServerCommand())
}
