package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/kubeconfig"
)

const (
	// gracefulStop is enough for every component to take its full time to stop, one group after the other.
	gracefulStop = 40 * time.Second
	killedStop   = 10 * time.Second
)

func newDown() *cobra.Command {
	var deleteData bool
	cmd := &cobra.Command{
		Use:   "down",
		Short: "Stop the cluster; its data stays for the next up",
		Args:  cobra.NoArgs,
	}
	dirOf := dirFlag(cmd)
	cmd.Flags().BoolVar(&deleteData, "delete-data", false, "delete the cluster's directory as well")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return down(cmd.Context(), dirOf, deleteData) }
	return cmd
}

func newDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "delete",
		Short: "Stop the cluster and delete its directory: down --delete-data",
		Args:  cobra.NoArgs,
	}
	dirOf := dirFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return down(cmd.Context(), dirOf, true) }
	return cmd
}

func down(ctx context.Context, dirOf func() (clusterdir.Dir, error), deleteData bool) error {
	dir, err := dirOf()
	if err != nil {
		return err
	}
	running := dir.Running()
	if !running && !dir.IsCluster() {
		return fmt.Errorf("%s holds no devcluster", dir)
	}
	if running {
		if err := stop(ctx, dir); err != nil {
			return err
		}
	}
	if err := tidy(dir); err != nil {
		return err
	}
	if deleteData {
		if err := dir.Delete(); err != nil {
			return err
		}
		fmt.Printf("stopped; deleted %s\n", dir)
		return nil
	}
	if running {
		fmt.Printf("stopped; the data stays in %s\n", dir)
	} else {
		fmt.Println("was not running")
	}
	return nil
}

// stop ends the supervisor, gracefully if it can, and returns when no process of the cluster is left.
func stop(ctx context.Context, dir clusterdir.Dir) error {
	run, err := dir.LoadRun()
	if err == nil {
		_ = syscall.Kill(run.PID, syscall.SIGTERM)
	}
	graceful, cancel := context.WithTimeout(ctx, gracefulStop)
	defer cancel()
	if dir.WaitStopped(graceful) == nil {
		return nil
	}
	if run != nil && run.PID > 0 {
		_ = syscall.Kill(run.PID, syscall.SIGKILL)
	}
	killed, cancel := context.WithTimeout(ctx, killedStop)
	defer cancel()
	return dir.WaitStopped(killed)
}

// tidy does what a supervisor that was killed could not.
func tidy(dir clusterdir.Dir) error {
	dir.ClearRun()
	settings, err := dir.LoadSettings()
	if err != nil {
		return nil
	}
	if settings.Containers {
		err = containernode.RemoveCgroups(dir.Cgroup())
	}
	return errors.Join(err, removeContexts(settings))
}

// removeContexts takes the cluster's context out of the user's kubeconfig files.
func removeContexts(settings *clusterdir.Settings) error {
	var errs []error
	for _, file := range settings.Kubeconfigs {
		errs = append(errs, kubeconfig.Remove(file, settings.ContextName()))
	}
	return errors.Join(errs...)
}
