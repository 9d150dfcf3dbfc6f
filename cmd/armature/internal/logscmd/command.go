// Package logscmd is "armature logs": what all pods of something print, interleaved.
package logscmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/cmd/armature/internal/complete"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// options are what is asked of the logs.
type options struct {
	follow     bool
	tail       int64
	since      time.Duration
	timestamps bool
	container  string
	most       int
}

// New returns the command.
func New() *cobra.Command {
	kube := connect.Flags()
	var o options
	cmd := &cobra.Command{
		Use:   "logs (KIND/NAME | KIND NAME) [NODE]",
		Short: "Print the logs of all pods of an object in chronological order",
		Long: "Print the logs of all pods below an object in chronological order, with the pod's name before each line. " +
			`NODE selects one part: a node
of a JobFlow, a cluster node of a DaemonJob, a replica type of a ReplicaJob.

With --follow the command continues until the object has ended, and includes pods that start later. While the API server doesn't answer,
it waits, and says so on standard error.`,
		Example: "  armature logs jobflow/nightly build\n  armature logs rj/train worker --follow --tail=10",
		Args:    cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			object, part, err := connect.Split(args)
			if err != nil {
				return err
			}
			return run(cmd.Context(), kube, o, cmd.OutOrStdout(), cmd.ErrOrStderr(), object, part)
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow", "daemonjob", "replicajob", "fluxjob", "minicluster", "job", "pod")
	kube.AddFlags(cmd.Flags())
	flags := cmd.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "continue until the object has ended")
	flags.Int64Var(&o.tail, "tail", -1, "print the last `lines` of each container (default: all)")
	flags.DurationVar(&o.since, "since", 0, "print lines that are newer than this duration, such as 5s, 2m, 3h (default: all)")
	flags.BoolVar(&o.timestamps, "timestamps", false, "print the time before each line")
	flags.StringVarP(&o.container, "container", "c", "", "print this `container` of each pod only (default: all, including init containers)")
	flags.IntVar(&o.most, "max-log-requests", 50, "maximum number of containers whose logs are read at a time")
	return cmd
}

// check refuses values that kubectl refuses.
func (o options) check() error {
	switch {
	case o.tail < -1:
		return fmt.Errorf("--tail must be -1 (all) or greater, got %d", o.tail)
	case o.since < 0:
		return fmt.Errorf("--since must not be negative, got %s", o.since)
	default:
		return nil
	}
}

func run(
	ctx context.Context, kube *genericclioptions.ConfigFlags, o options, out, errs io.Writer, args []string, part string,
) error {
	cluster, err := connect.Open(kube)
	if err != nil {
		return err
	}
	root, err := cluster.Find(args)
	if err != nil {
		return err
	}
	clients, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		return err
	}
	s := &source{
		options: o, cluster: cluster, pods: clients.CoreV1().Pods(root.GetNamespace()), part: part, root: root, errs: errs,
	}
	p := &printer{out: out, paint: output.PaintFor(out), timestamps: o.timestamps}
	if o.follow {
		return s.followAll(ctx, p)
	}
	return s.printStarted(ctx, p)
}

// printStarted prints what the containers that have started have printed so far.
func (s *source) printStarted(ctx context.Context, p *printer) error {
	found, err := s.find(ctx)
	if err != nil {
		return err
	}
	if len(found.started) == 0 {
		return found.nothing(s.root, s.part, s.container)
	}
	if n := len(found.started); n > s.most {
		return tooMany(n, "have started", s.most, found.parts)
	}
	s.say(found.unread)
	return s.printAll(ctx, found.started, p)
}

// tooMany says that more containers are in a state than logs may be read at a time.
func tooMany(n int, are string, most int, parts string) error {
	return fmt.Errorf("%d containers %s, and --max-log-requests is %d: raise it, or name a part: one of %s", n, are, most, parts)
}

// nothing says why there is nothing to print.
func (f found) nothing(root *unstructured.Unstructured, part, container string) error {
	name := strings.ToLower(root.GetKind()) + "/" + root.GetName()
	switch {
	case f.pods == 0 && len(f.unread) > 0:
		return fmt.Errorf("no pods of %s can be found: %w", name, errors.Join(f.unread...))
	case len(f.otherContainers) > 0:
		return fmt.Errorf("no container of %s is called %q; there are %s", name, container, strings.Join(f.otherContainers, ", "))
	case part != "" && f.parts != "":
		return fmt.Errorf("%s has no pods of %q; it has those of %s", name, part, f.parts)
	case f.pods == 0:
		return fmt.Errorf("%s has no pods; armature explain %s says why", name, name)
	default:
		return errors.New("nothing of " + name + " has started; armature explain " + name + " says why")
	}
}

// gather finds the family of the object as it is now.
func (s *source) gather(ctx context.Context) (family.Family, error) {
	return family.Source{Client: s.cluster.Client, Discovery: s.cluster.Discovery}.Gather(ctx, s.root)
}
