package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	componentcli "k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
)

func newKubectl() *cobra.Command {
	return &cobra.Command{
		Use:   "kubectl [--dir DIR] [--] ARGS",
		Short: "Run kubectl on the cluster; nothing else has to be installed",
		Example: `  devcluster kubectl get pods -A
  devcluster kubectl --dir /tmp/c1 -- apply -f job.yaml`,
		// All flags are kubectl's, but for a leading --dir.
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return runKubectl(args) },
	}
}

func runKubectl(args []string) error {
	path, args, err := leadingDir(args)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	dir, err := clusterdir.New(path)
	if err != nil {
		return err
	}
	if !hasKubeconfigFlag(args) {
		if err := useCluster(dir); err != nil {
			return err
		}
	}
	// kubectl looks at os.Args itself, for its plugins.
	os.Args = append([]string{"kubectl"}, args...)
	_, _ = logs.GlogSetter(cmd.GetLogVerbosity(os.Args))
	if err := componentcli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	return nil
}

// useCluster makes the cluster the one that clients started by this process find. The network of a cluster with
// containers is entered first, which runs this program from its beginning again.
func useCluster(dir clusterdir.Dir) error {
	if _, err := os.Stat(dir.Kubeconfig()); err != nil {
		// A later --dir is an argument of the command.
		return fmt.Errorf("%w, before the arguments of the command", noCluster(dir))
	}
	os.Setenv("KUBECONFIG", dir.Kubeconfig())
	pid, err := networkOf(dir)
	if err != nil || pid == 0 || containernode.Inside(pid) {
		return err
	}
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	return containernode.Exec(pid, exe, os.Args, os.Environ())
}

func noCluster(dir clusterdir.Dir) error {
	return fmt.Errorf("no cluster in %s: run `devcluster up`, or name another one with --dir", dir)
}

// leadingDir takes --dir off the front of args.
func leadingDir(args []string) (dir string, rest []string, err error) {
	if len(args) == 0 {
		return "", args, nil
	}
	value, isOne := strings.CutPrefix(args[0], "--dir=")
	switch {
	case isOne:
		dir, rest = value, args[1:]
	case args[0] == "--dir" && len(args) > 1:
		dir, rest = args[1], args[2:]
	case args[0] == "--dir":
		return "", nil, errors.New("--dir needs a value")
	default:
		return "", args, nil
	}
	if dir == "" {
		return "", nil, errors.New("--dir is empty")
	}
	return dir, rest, nil
}

func hasKubeconfigFlag(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		if arg == "--kubeconfig" || strings.HasPrefix(arg, "--kubeconfig=") {
			return true
		}
	}
	return false
}
