package peers

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/bench/internal/lab"
)

// What is measured, in this order.
const (
	created   = "created"
	unchanged = "unchanged"
	drifted   = "drifted"
	changed   = "changed"
	pruned    = "pruned"
)

var scenarios = []string{unchanged, drifted, changed, pruned, created}

// patience is how long a pass may take before a peer is given up, and a cache may take to catch up.
const patience = 5 * time.Minute

// contender is a peer with its manager running.
type contender struct {
	peer
	requests  *lab.Counter
	cached    client.Client
	live      client.Client // someone else's
	reconcile reconciler
	stop      func() error
}

func start(ctx context.Context, p peer, cfg *rest.Config) (*contender, error) {
	c := &contender{peer: p, requests: &lab.Counter{}}
	var err error
	if c.live, err = client.New(cfg, client.Options{}); err != nil {
		return nil, err
	}
	var options client.Options
	if p.options != nil {
		options = p.options()
	}
	mgr, err := ctrl.NewManager(c.requests.Watch(cfg), ctrl.Options{
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		Client:     options,
	})
	if err != nil {
		return nil, err
	}
	if c.reconcile, err = p.setUp(mgr); err != nil {
		return nil, err
	}
	c.cached = mgr.GetClient()
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	c.stop = func() error {
		cancel()
		return <-ended
	}
	if p.cache {
		if _, err = mgr.GetCache().GetInformer(ctx, &appsv1.Deployment{}); err != nil {
			return nil, fmt.Errorf("start the cache: %w", err)
		}
	}
	return c, nil
}

// run goes through all scenarios for an owner of n Deployments.
func (c *contender) run(ctx context.Context, n int) (results map[string]lab.Sample, err error) {
	owner, err := c.newOwner(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := c.live.DeleteAllOf(ctx, &appsv1.Deployment{}, client.InNamespace(owner.Namespace)); err == nil {
			err = e
		}
		if e := c.settle(ctx, owner); err == nil {
			err = e
		}
	}()
	results = map[string]lab.Sample{}
	pass := func(scenario string, times, n int, change func([]*appsv1.Deployment), reached func() (bool, error)) error {
		var wanted []*appsv1.Deployment
		prepare := func(int) {
			wanted = deployments(owner, n)
			change(wanted)
		}
		s, err := c.requests.Measure(times, prepare, func(int) error { return c.reconcile(ctx, owner, wanted) })
		if err != nil {
			return fmt.Errorf("%s: %w", scenario, err)
		}
		if s.Reached, err = reached(); err != nil {
			return err
		}
		results[scenario] = s
		return c.settle(ctx, owner)
	}
	same := func([]*appsv1.Deployment) {}

	if err := pass(created, 1, n, same, func() (bool, error) { return c.count(ctx, owner, n) }); err != nil || c.onlyNew {
		return results, err
	}
	for range 2 { // until it is warm
		if err := pass(unchanged, 1, n, same, func() (bool, error) { return true, nil }); err != nil {
			return nil, err
		}
	}
	again := int(max(1, min(200, time.Second/max(results[unchanged].Time, 1))))
	if err := pass(unchanged, again, n, same, func() (bool, error) { return c.count(ctx, owner, n) }); err != nil {
		return nil, err
	}
	if err := c.drift(ctx, owner, n/2); err != nil {
		return nil, err
	}
	if err := pass(drifted, 1, n, same, func() (bool, error) { return c.hasReplicas(ctx, owner, n/2, 3) }); err != nil {
		return nil, err
	}
	scale := func(all []*appsv1.Deployment) { all[n/3].Spec.Replicas = ptr.To[int32](5) }
	if err := pass(changed, 1, n, scale, func() (bool, error) { return c.hasReplicas(ctx, owner, n/3, 5) }); err != nil {
		return nil, err
	}
	// One less. The changed one stays as it is by now.
	return results, pass(pruned, 1, n-1, scale, func() (bool, error) { return c.count(ctx, owner, n-1) })
}

// newOwner makes an owner in a namespace of its own.
func (c *contender) newOwner(ctx context.Context) (*corev1.ConfigMap, error) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "bench-"}}
	if err := c.live.Create(ctx, ns); err != nil {
		return nil, err
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: "owner"}}
	err := c.live.Create(ctx, owner)
	owner.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}
	return owner, err
}

// drift changes a field of a Deployment as someone else would.
func (c *contender) drift(ctx context.Context, owner *corev1.ConfigMap, i int) error {
	d := deployment(owner, i)
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":7}}`))
	if err := c.live.Patch(ctx, d, patch, client.FieldOwner("someone-else")); err != nil {
		return err
	}
	return c.settle(ctx, owner)
}

func (c *contender) hasReplicas(ctx context.Context, owner *corev1.ConfigMap, i int, replicas int32) (bool, error) {
	d := deployment(owner, i)
	err := c.live.Get(ctx, client.ObjectKeyFromObject(d), d)
	return *d.Spec.Replicas == replicas, client.IgnoreNotFound(err)
}

func (c *contender) count(ctx context.Context, owner *corev1.ConfigMap, n int) (bool, error) {
	var all appsv1.DeploymentList
	err := c.live.List(ctx, &all, client.InNamespace(owner.Namespace))
	return len(all.Items) == n, err
}

// settle waits until the cache shows what the API server has.
func (c *contender) settle(ctx context.Context, owner *corev1.ConfigMap) error {
	if !c.cache {
		return nil
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var live, seen appsv1.DeploymentList
		err := c.live.List(ctx, &live, client.InNamespace(owner.Namespace))
		if err == nil {
			err = c.cached.List(ctx, &seen, client.InNamespace(owner.Namespace))
		}
		if err != nil || len(live.Items) != len(seen.Items) {
			return false, client.IgnoreNotFound(ignoreTimeout(err))
		}
		versions := map[string]string{}
		for _, d := range live.Items {
			versions[d.Name] = d.ResourceVersion
		}
		for _, d := range seen.Items {
			if versions[d.Name] != d.ResourceVersion {
				return false, nil
			}
		}
		return true, nil
	})
}

func ignoreTimeout(err error) error {
	if apierrors.IsTimeout(err) {
		return nil
	}
	return err
}
