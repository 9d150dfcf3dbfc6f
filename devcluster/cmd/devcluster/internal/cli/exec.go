package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
)

func newExec() *cobra.Command {
	return &cobra.Command{
		Use:   "exec [--dir DIR] [--] COMMAND ARGS",
		Short: "Run a command with KUBECONFIG set, in the network of the cluster if it has one of its own",
		Example: `  devcluster exec -- kubectl get pods -A
  devcluster exec -- helm install armature ./charts/armature`,
		// All flags are the command's, but for a leading --dir.
		DisableFlagParsing: true,
		RunE:               func(_ *cobra.Command, args []string) error { return runExec(args) },
	}
}

func runExec(args []string) error {
	path, args, err := leadingDir(args)
	if err != nil {
		return err
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return errors.New("exec: name a command, such as `devcluster exec -- kubectl get pods`")
	}
	dir, err := clusterdir.New(path)
	if err != nil {
		return err
	}
	if err := useCluster(dir); err != nil {
		return err
	}
	program, err := exec.LookPath(args[0])
	if errors.Is(err, exec.ErrNotFound) && args[0] == "kubectl" {
		// There is one in this program.
		return runKubectl(append([]string{"--dir", string(dir), "--"}, args[1:]...))
	}
	if err != nil {
		return err
	}
	return syscall.Exec(program, args, os.Environ())
}

// networkOf returns a process in the network of the cluster in dir, or 0 if that network is the machine's.
func networkOf(dir clusterdir.Dir) (pid int, err error) {
	settings, err := dir.LoadSettings()
	if os.IsNotExist(err) {
		return 0, noCluster(dir)
	}
	if err != nil || !settings.Containers {
		return 0, err
	}
	run, err := dir.LoadRun()
	if err != nil || !dir.Running() {
		return 0, fmt.Errorf("the cluster in %s is not running: run `devcluster up`", dir)
	}
	return run.PID, nil
}
