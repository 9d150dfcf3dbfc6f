package jobs

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
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
	cfg    *rest.Config
	client client.WithWatch
	typed  kubernetes.Interface

	clears   bool          // the namespace of a run is deleted after it
	idleTime time.Duration // how long an operator is watched after its work is done
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return scheme, v1alpha1.AddToScheme(scheme)
}

// newWorld connects to a cluster and installs the CRDs of a directory.
func newWorld(ctx context.Context, cfg *rest.Config, crds string) (*world, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	w := &world{cfg: cfg}
	if w.client, err = client.NewWithWatch(cfg, client.Options{Scheme: scheme}); err != nil {
		return nil, err
	}
	binary := rest.CopyConfig(cfg)
	binary.ContentType, binary.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	if w.typed, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	return w, w.install(ctx, crds)
}

func (w *world) install(ctx context.Context, dir string) error {
	if err := lab.InstallCRDs(ctx, w.client, dir); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		return w.client.List(ctx, &v1alpha1.JobFlowList{}) == nil && w.client.List(ctx, &v1alpha1.DaemonJobList{}) == nil, nil
	})
}

// namespace makes a namespace for one run.
func (w *world) namespace(ctx context.Context, prefix string) (string, error) {
	return lab.Namespace(ctx, w.typed, prefix)
}

// clear deletes a namespace and waits until all of it is gone, so that the next run has the cluster for itself, if that was asked
// for. Otherwise it goes with the cluster.
func (w *world) clear(ctx context.Context, namespace string) error {
	if !w.clears {
		return nil
	}
	return lab.Clear(ctx, w.typed, namespace, patience)
}
