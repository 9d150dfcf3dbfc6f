package replicas

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

// patience bounds every wait.
const patience = 30 * time.Minute

// world is the cluster, as the client that measures sees it. Its requests aren't counted.
type world struct {
	client   client.WithWatch
	typed    kubernetes.Interface
	settle   time.Duration
	idleTime time.Duration
	warm     bool
	clears   bool // the namespace of a run is deleted after it
}

// outcome is what one run took.
type outcome struct {
	created    time.Duration // until the last pod was there
	succeeded  time.Duration // until the job had succeeded, or the last pod of the bare client
	reconciles int
	requests   map[string]int // but for events
	events     int            // requests for events
	idle       map[string]int // requests in some time after the end
	heap       uint64         // of this process, the largest, in bytes
	status     int            // of the job, the largest, in bytes of JSON
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	addKubeflow(scheme)
	return scheme, v1alpha1.AddToScheme(scheme)
}

// newWorld connects to a cluster and installs the kinds.
func newWorld(ctx context.Context, cfg *rest.Config, crds string) (*world, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	w := &world{}
	if w.client, err = client.NewWithWatch(cfg, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	binary := rest.CopyConfig(cfg)
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	if w.typed, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if err := lab.InstallCRDs(ctx, w.client, crds); err != nil {
		return nil, err
	}
	if err := w.client.Create(ctx, &unstructured.Unstructured{Object: kubeflowCRD()}); err != nil {
		return nil, err
	}
	return w, wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return w.client.List(ctx, &v1alpha1.ReplicaJobList{}) == nil && w.client.List(ctx, &kubeflowJobList{}) == nil, nil
	})
}

// operator is what a job is run by.
type operator struct {
	counter    *lab.Requests
	reconciles func() (int, error) // so far
	job        func(namespace string, n int) client.Object
	list       func() client.ObjectList
	// succeeded reports whether a job has, and the size of its status.
	succeeded func(job runtime.Object) (bool, int)
}

// run creates a job of n workers, and waits until it has succeeded and its pods are gone.
func (w *world) run(ctx context.Context, o *operator, namespace string, n int) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	wait, err := w.watchPods(ctx, namespace, func(t *podTimes) bool { return t.gone == n })
	if err != nil {
		return outcome{}, err
	}
	before, err := o.reconciles()
	if err != nil {
		return outcome{}, err
	}
	heap := lab.WatchHeap(ctx)
	jobs, err := lab.Watch(ctx, w.client, o.list(), namespace)
	if err != nil {
		return outcome{}, err
	}
	defer jobs.Stop()
	o.counter.Take()

	start := time.Now()
	if err := w.client.Create(ctx, o.job(namespace, n)); err != nil {
		return outcome{}, err
	}
	var out outcome
	for done := false; !done; {
		event, ok := <-jobs.ResultChan()
		if !ok || event.Type == watch.Error {
			return out, fmt.Errorf("the watch of the job in %s ended before it did: %v", namespace, event.Object)
		}
		var size int
		done, size = o.succeeded(event.Object)
		out.status = max(out.status, size)
	}
	out.succeeded = time.Since(start)
	times, err := wait()
	if err != nil {
		return out, err
	}
	out.created = times.lastCreated.Sub(start)
	pause(ctx, w.settle)
	out.heap = heap()
	after, err := o.reconciles()
	if err != nil {
		return out, err
	}
	out.reconciles = after - before
	out.requests = o.counter.Take()
	for what, times := range out.requests {
		if what == "POST events" || what == "PATCH events" {
			out.events += times
			delete(out.requests, what)
		}
	}
	pause(ctx, w.idleTime)
	out.idle = o.counter.Take()
	return out, ctx.Err()
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
