package recordcmd

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/cli-runtime/pkg/genericclioptions"
)

// forwarding is what kubectl says of a port that it forwards.
var forwarding = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) -> `)

// tunnel forwards a local port to a port of a pod until stop is called, and returns the local address. It runs kubectl, which has the
// libraries for that. stop returns when kubectl has ended.
func tunnel(ctx context.Context, kube *genericclioptions.ConfigFlags, namespace, pod string, port int) (
	address string, stop func(), err error,
) {
	args := []string{"port-forward", "--address=127.0.0.1", "--namespace=" + namespace, "pod/" + pod, ":" + strconv.Itoa(port)}
	for name, value := range map[string]*string{
		"kubeconfig": kube.KubeConfig, "context": kube.Context, "cluster": kube.ClusterName, "user": kube.AuthInfoName,
		"server": kube.APIServer, "as": kube.Impersonate,
	} {
		if value != nil && *value != "" {
			args = append(args, "--"+name+"="+*value)
		}
	}
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
