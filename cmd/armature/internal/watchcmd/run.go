package watchcmd

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
)

// redrawEvery is how often elapsed times move on a terminal.
const redrawEvery = 200 * time.Millisecond

// view shows an object.
type view interface {
	// show is called for each change and, on a terminal, as time goes by. Tails are the last lines that rows printed that failed.
	show(p picture, tails tails)
}

func run(ctx context.Context, kube *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams, args []string) error {
	cluster, err := connect.Open(kube)
	if err != nil {
		return err
	}
	pods, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		return err
	}
	root, err := cluster.Find(args)
	if err != nil {
		return err
	}
	kind, err := find(root.GroupVersionKind())
	if err != nil {
		return err
	}
	object := kind.object()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(root.Object, object); err != nil {
		return err
	}
	var v view = &lines{out: streams.Out}
	if f := output.Screen(streams.Out); f != nil {
		v = &screen{out: f, size: terminalSize(f), color: os.Getenv("NO_COLOR") == ""}
	}
	a := newAttendance(func(ctx context.Context) string { return unattended(ctx, cluster, root) })
	return follow(ctx, cluster.Client, pods.CoreV1().Pods(root.GetNamespace()), kind, object, v, a)
}

// follow shows an object until it has ended, and reports how.
func follow(
	ctx context.Context, c client.WithWatch, pods typedcorev1.PodInterface, kind kind, obj client.Object, v view, a *attendance,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan watch.Event)
	s := &source{client: c, list: kind.list, troubles: make(chan error)}
	go func() {
		_, _ = watchtools.UntilWithSync(ctx, s.listWatch(obj), obj, nil, func(ev watch.Event) (bool, error) {
			select {
			case changes <- ev:
				return false, nil
			case <-ctx.Done():
				return true, nil
			}
		})
	}()
	failures := newFailures(pods)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	var trouble error
	var refused time.Time // since when the API server refuses what it has shown before; zero: it doesn't
	seen := false
	for {
		p := kind.picture(obj, time.Now())
		failures.read(ctx, p.rows)
		if p.over {
			failures.await(ctx)
		}
		a.look(ctx, time.Now())
		if a.absent != "" {
			p.problem = a.absent
		}
		if trouble != nil {
			p.problem = "trying again: " + trouble.Error()
		}
		v.show(p.inLines(), failures.tails)
		switch {
		case p.over && p.failed:
			return ErrFailed
		case p.over:
			return nil
		}
		select {
		case read := <-failures.found:
			failures.keep(read)
		case absent := <-a.answers:
			a.keep(absent)
		case ev := <-changes:
			trouble, seen, refused = nil, true, time.Time{}
			a.changed(time.Now())
			if ev.Type == watch.Deleted {
				return fmt.Errorf("%s %s/%s was deleted", p.kind, obj.GetNamespace(), obj.GetName())
			}
			if seen, ok := ev.Object.(client.Object); ok {
				obj = seen
			}
		case trouble = <-s.troubles:
			switch {
			case !isHopeless(trouble):
				refused = time.Time{}
			case !seen || !refused.IsZero() && time.Since(refused) >= refusedFor:
				return trouble
			case refused.IsZero():
				refused = time.Now()
			}
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
