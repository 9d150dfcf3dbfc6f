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
		Short: "Print what all pods of something print, interleaved",
		Long: `Print what all pods below an object have printed, in the order of time, each line with the pod's name before it. With NODE those
of one part only: a node of a JobFlow, a cluster node of a DaemonJob, a replica type of a ReplicaJob.

With --follow it goes on until what was asked for has ended, and takes up pods as they start.`,
		Example: "  armature logs jobflow/nightly build\n  armature logs rj/train worker --follow --tail=10",
		Args:    cobra.RangeArgs(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			object, part, err := connect.Split(args)
			if err != nil {
				return err
			}
			return run(cmd.Context(), kube, o, cmd.OutOrStdout(), object, part)
		},
	}
	cmd.ValidArgsFunction = complete.Names(kube, "jobflow", "daemonjob", "replicajob", "fluxjob", "minicluster", "job", "pod")
	kube.AddFlags(cmd.Flags())
	flags := cmd.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "go on until it has ended")
	flags.Int64Var(&o.tail, "tail", -1, "the last `lines` of each container. By default all.")
	flags.DurationVar(&o.since, "since", 0, "what is newer than this, such as 5s, 2m, 3h. By default all.")
	flags.BoolVar(&o.timestamps, "timestamps", false, "put the time before each line")
	flags.StringVarP(&o.container, "container", "c", "", "this `container` of each pod only. By default all, init containers too.")
	flags.IntVar(&o.most, "max-log-requests", 50, "refuse to read the logs of more containers at a time")
	return cmd
}

func run(ctx context.Context, kube *genericclioptions.ConfigFlags, o options, out io.Writer, args []string, part string) error {
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
	s := &source{options: o, cluster: cluster, pods: clients.CoreV1().Pods(root.GetNamespace()), part: part, root: root}
	p := &printer{out: out, paint: output.PaintFor(out), timestamps: o.timestamps}
	if o.follow {
		return s.followAll(ctx, p)
	}
	found, err := s.find(ctx)
	if err != nil {
		return err
	}
	if len(found.started) == 0 {
		return found.nothing(root, part, o.container)
	}
	return s.printAll(ctx, found.started, p)
}

// nothing says why there is nothing to print.
func (f found) nothing(root *unstructured.Unstructured, part, container string) error {
	name := strings.ToLower(root.GetKind()) + "/" + root.GetName()
	switch {
	case len(f.unread) > 0:
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
