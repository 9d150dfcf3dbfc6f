package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/supervisor"
)

// settleTimeout is how long `up` waits for a cluster that is on its way down, or whose supervisor was killed.
const settleTimeout = 30 * time.Second

// buryTimeout is how long it waits to see whether a cluster that is not healthy was killed.
const buryTimeout = 3 * time.Second

func newUp() *cobra.Command {
	var flags upFlags
	var detach bool
	var life lifetime
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start the cluster, and run it until ctrl-C (or in the background with --detach)",
		Example: `  devcluster up --nodes 3
  devcluster up --node-names minikube,node-2,node-3 --detach
  devcluster up --nodes 0 --fake-nodes 1000
  devcluster up --containers --nodes 3 --detach`,
		Args: cobra.NoArgs,
	}
	dirOf := dirFlag(cmd)
	flags.add(cmd.Flags())
	cmd.Flags().BoolVar(&detach, "detach", false, "run in the background, and return when the cluster is ready")
	cmd.Flags().BoolVar(&life.temporary, "temporary", false,
		"delete the cluster's directory when it stops; if the cluster fails, its logs stay")
	cmd.Flags().BoolVar(&life.withParent, "with-parent", false, "stop the cluster when standard input closes")
	_ = cmd.Flags().MarkHidden("with-parent")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := flags.validate(); err != nil {
			return err
		}
		if detach && life.withParent {
			return errors.New("--detach and --with-parent exclude each other")
		}
		dir, err := dirOf()
		if err != nil {
			return err
		}
		if done, err := alreadyRunning(cmd.Context(), dir, &flags, detach); done || err != nil {
			return err
		}
		if err := checkContainers(dir, &flags); err != nil {
			return err
		}
		if detach {
			return runDetached(dir)
		}
		return runSupervisor(dir, &flags, life)
	}
	return cmd
}

// lifetime is what ends the cluster, and what stays of it.
type lifetime struct {
	withParent bool
	temporary  bool
}

// runSupervisor is the cluster's life, in this process.
func runSupervisor(dir clusterdir.Dir, flags *upFlags, life lifetime) error {
	settings, err := dir.LoadOrNewSettings()
	if err != nil {
		return err
	}
	// A supervisor that was killed left its context in these files, which this one may not be told about.
	if err := removeContexts(settings); err != nil {
		return err
	}
	if _, err := flags.applyTo(settings, dir); err != nil {
		return err
	}
	if settings.Containers {
		if err := containernode.Isolate(); err != nil {
			return err
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// A second ctrl-C ends this process at once; its components follow, as when it is killed.
	context.AfterFunc(ctx, stop)
	if life.withParent {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	progress := openProgress()
	cluster := supervisor.New(dir, settings, flags.timeout, progress)
	cluster.Temporary = life.temporary
	err = cluster.Run(ctx, progress.ready)
	if life.temporary && dir.IsCluster() && !errors.Is(err, clusterdir.ErrLocked) {
		// Nobody reads the logs of a cluster that was told to stop.
		err = deleteTemporary(dir, err, err != nil && ctx.Err() == nil)
	}
	progress.fail(err)
	return err
}

// deleteTemporary deletes the directory of a temporary cluster. The logs of one that failed stay, and the error says where they are.
func deleteTemporary(dir clusterdir.Dir, err error, failed bool) error {
	if !failed {
		return errors.Join(err, dir.Delete())
	}
	deleted := dir.DeleteExceptLogs()
	if _, missing := os.Stat(dir.Logs()); missing == nil {
		err = fmt.Errorf("%w\nthe logs are in %s", err, dir.Logs())
	}
	return errors.Join(err, deleted)
}

// checkContainers refuses a cluster whose nodes run containers where that can't work. Nothing is created yet.
func checkContainers(dir clusterdir.Dir, flags *upFlags) error {
	settings, err := dir.LoadOrNewSettings()
	if err != nil {
		return err
	}
	if _, err := flags.applyTo(settings, dir); err != nil || !settings.Containers {
		return err
	}
	return containernode.Check(settings.NodeBinaries, len(settings.Nodes))
}

// alreadyRunning deals with a cluster that runs in dir: done means that it is all that was asked for.
func alreadyRunning(ctx context.Context, dir clusterdir.Dir, flags *upFlags, detach bool) (done bool, err error) {
	if !dir.Running() {
		return false, nil
	}
	run, err := dir.LoadRun()
	if err != nil || run.Phase == clusterdir.Stopping || syscall.Kill(run.PID, 0) != nil {
		return false, waitStopped(ctx, dir, settleTimeout)
	}
	if !detach {
		return false, fmt.Errorf("a cluster is already running in %s (pid %d): "+
			"see `devcluster status`, or stop it with `devcluster down`", dir, run.PID)
	}
	settings, err := dir.LoadSettings()
	if err != nil {
		return false, err
	}
	changes, err := flags.applyTo(settings, dir)
	if err != nil {
		return false, err
	}
	if len(changes) > 0 {
		return false, fmt.Errorf("the cluster that is running in %s differs: its %s; run `devcluster down` first",
			dir, strings.Join(changes, "; its "))
	}
	status, err := loadStatus(ctx, dir)
	if err != nil {
		return false, err
	}
	if !status.Healthy {
		// A supervisor that was killed a moment ago still has its PID, until its parent has heard of its end.
		if waitStopped(ctx, dir, buryTimeout) == nil {
			return false, nil
		}
		return false, fmt.Errorf("a cluster is already running in %s (pid %d), but it is not healthy: %s", dir, run.PID, status.Problem)
	}
	fmt.Printf("already running (pid %d)\n\n%s\n", run.PID, supervisor.HowToUse(dir, settings))
	return true, nil
}

func waitStopped(ctx context.Context, dir clusterdir.Dir, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return dir.WaitStopped(ctx)
}
