package recordcmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// forwarding is what kubectl says of a port that it forwards.
var forwarding = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) -> `)

// tunnel forwards a local port to a port of a pod until stop is called, and returns the local address. It runs kubectl, which has the
// libraries for that, as the user and with the server of kube. stop returns when kubectl has ended.
func tunnel(ctx context.Context, kube *genericclioptions.ConfigFlags, namespace, pod string, port int) (
	address string, stop func(), err error,
) {
	connection, remove, err := connectionArgs(kube)
	if err != nil {
		return "", nil, err
	}
	defer remove() // kubectl has read the file once it forwards
	args := append([]string{
		"port-forward", "--address=127.0.0.1", "--namespace=" + namespace, "pod/" + pod, ":" + strconv.Itoa(port),
	}, connection...)
	cmd := exec.CommandContext(ctx, "kubectl", args...) //nolint:gosec // the arguments are the user's own
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("run kubectl port-forward, which reaches the manager's pod: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if found := forwarding.FindStringSubmatch(lines.Text()); found != nil {
			return found[1], func() { _, _ = cmd.Process.Kill(), cmd.Wait() }, nil
		}
	}
	err = errors.Join(cmd.Wait(), errors.New(strings.TrimSpace(errs.String())))
	return "", nil, fmt.Errorf("kubectl port-forward to pod %s/%s: %w\nif the manager runs outside of the cluster, "+
		"name its --record-bind-address with --address",
		namespace, pod, err)
}

// connectionArgs returns kubectl's arguments for the connection that kube describes: its flags that aren't the default. A token becomes
// part of a temporary kubeconfig, because other users of the machine can read the arguments of a process. remove removes that file.
func connectionArgs(kube *genericclioptions.ConfigFlags) (args []string, remove func(), err error) {
	defaults, given := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	connect.Flags().AddFlags(defaults)
	kube.AddFlags(given)
	remove = func() {}
	replaced := []string{"namespace", "token"} // the pod's namespace is another one
	if *kube.BearerToken != "" {
		var file string
		if file, err = writeToken(kube); err != nil {
			return nil, nil, err
		}
		remove = func() { _ = os.Remove(file) }
		args = append(args, "--kubeconfig="+file, "--user="+tokenUser)
		replaced = append(replaced, "kubeconfig", "user")
	}
	given.VisitAll(func(f *pflag.Flag) {
		if slices.Contains(replaced, f.Name) || f.Value.String() == defaults.Lookup(f.Name).Value.String() {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			args = append(args, "--"+f.Name+"="+value)
		}
	})
	return args, remove, nil
}

// tokenUser is the user in the kubeconfig of writeToken.
const tokenUser = "armature-record"

// writeToken writes a kubeconfig, which only its owner can read, with all that kube's has, and with its user under the name tokenUser and
// with the token of the flag.
func writeToken(kube *genericclioptions.ConfigFlags) (file string, err error) {
	config, err := kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return "", err
	}
	name := *kube.AuthInfoName
	if current := config.Contexts[cmp.Or(*kube.Context, config.CurrentContext)]; name == "" && current != nil {
		name = current.AuthInfo
	}
	user := api.NewAuthInfo()
	if known := config.AuthInfos[name]; known != nil {
		user = known.DeepCopy()
	}
	user.Token = *kube.BearerToken
	config.AuthInfos[tokenUser] = user
	text, err := clientcmd.Write(config)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "armature-record-") // only its owner can read it
	if err != nil {
		return "", err
	}
	if _, err = f.Write(text); err != nil {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		return "", err
	}
	return f.Name(), f.Close()
}
