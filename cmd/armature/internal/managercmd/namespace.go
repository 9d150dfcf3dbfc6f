package managercmd

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
)

// namespaceFile has the namespace of the pod that this process runs in.
const namespaceFile = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// leaseNamespace is where the lease lives. Inside a cluster, empty: controller-runtime takes the pod's namespace.
func leaseNamespace(o options) (string, error) {
	if o.leaderElectNamespace != "" {
		return o.leaderElectNamespace, nil
	}
	if _, err := rest.InClusterConfig(); err == nil && *o.kube.KubeConfig == "" {
		return "", nil
	}
	namespace, _, err := o.kube.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

// ownNamespace is where what belongs to the manager is, such as the Secret of its certificate.
func ownNamespace(o options) (string, error) {
	namespace, err := leaseNamespace(o)
	if err != nil || namespace != "" {
		return namespace, err
	}
	text, err := os.ReadFile(namespaceFile)
	if err != nil {
		return "", fmt.Errorf("find the pod's namespace: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
