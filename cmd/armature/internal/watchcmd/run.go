package watchcmd

import (
	"context"
	"fmt"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	toolscache "k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// redrawEvery is how often elapsed times move on a terminal.
const redrawEvery = 200 * time.Millisecond

// view shows a flow.
type view interface {
	// show is called for each change and, on a terminal, as time goes by. Tails are the last lines that nodes printed that failed.
	show(flow *v1alpha1.JobFlow, tails tails, now time.Time)
}

func run(ctx context.Context, kube *genericclioptions.ConfigFlags, streams genericiooptions.IOStreams, name string) error {
	cluster, err := connect.Open(kube)
	if err != nil {
		return err
	}
	pods, err := kubernetes.NewForConfig(cluster.Config)
	if err != nil {
		return err
	}
	c, namespace := cluster.Client, cluster.Namespace
	flow := &v1alpha1.JobFlow{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, flow); err != nil {
		return err
	}
	var v view = &lines{out: streams.Out}
	if f, ok := streams.Out.(*os.File); ok && isTerminal(f) {
		v = &screen{out: f, size: terminalSize(f), color: os.Getenv("NO_COLOR") == ""}
	}
	return follow(ctx, c, pods.CoreV1().Pods(namespace), flow, v)
}

// follow shows the flow until it has ended, and reports how.
func follow(ctx context.Context, c client.WithWatch, pods typedcorev1.PodInterface, flow *v1alpha1.JobFlow, v view) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan watch.Event)
	failed := make(chan error, 1)
	go func() {
		_, err := watchtools.UntilWithSync(ctx, listWatch(c, flow), &v1alpha1.JobFlow{}, nil, func(ev watch.Event) (bool, error) {
			select {
			case changes <- ev:
				return false, nil
			case <-ctx.Done():
				return true, nil
			}
		})
		failed <- err
	}()
	failures := newFailures(pods)
	tick := time.NewTicker(redrawEvery)
	defer tick.Stop()
	for {
		failures.read(ctx, flow)
		done, end := ended(flow)
		if done {
			failures.await(ctx)
		}
		v.show(flow, failures.tails, time.Now())
		if done {
			return end
		}
		select {
		case read := <-failures.found:
			failures.keep(read)
		case ev := <-changes:
			seen, ok := ev.Object.(*v1alpha1.JobFlow)
			if ev.Type == watch.Deleted {
				return fmt.Errorf("jobflow %s/%s was deleted", flow.Namespace, flow.Name)
			}
			if ok {
				flow = seen
			}
		case err := <-failed:
			return err
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// listWatch reads one flow by watching, never by polling.
func listWatch(c client.WithWatch, flow *v1alpha1.JobFlow) toolscache.ListerWatcher {
	one := fields.OneTermEqualSelector("metadata.name", flow.Name)
	options := func(o metav1.ListOptions) *client.ListOptions {
		return &client.ListOptions{Namespace: flow.Namespace, FieldSelector: one, Raw: &o}
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			list := &v1alpha1.JobFlowList{}
			return list, c.List(ctx, list, options(o))
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &v1alpha1.JobFlowList{}, options(o))
		},
	}
}
