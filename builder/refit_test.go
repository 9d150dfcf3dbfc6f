package builder_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// A default that was set beside what was wanted before is in the way of what is wanted now: it is taken out, wherever the
// process dies meanwhile.
func TestDefaultInTheWayIsTakenOut(t *testing.T) {
	for crash := range 5 {
		c, ctx := newCluster(), t.Context()
		engine := c.engine
		want := func(image string, strategy appsv1.DeploymentStrategyType) error {
			d := web(image)
			d.Spec.Strategy.Type = strategy
			_, err := engine.For(c.owner).Deployment(d).Reconcile(ctx)
			return err
		}
		require.NoError(t, want("a", ""))
		require.NoError(t, want("b", ""))
		found := web("")
		c.get(found)
		require.NotNil(t, found.Spec.Strategy.RollingUpdate)
		if crash > 0 {
			mortal := c.server.Client("example")
			mortal.CrashAfter(crash)
			engine = builder.NewEngine(mortal, builder.Options{Name: "example"})
			_ = want("c", appsv1.RecreateDeploymentStrategyType)
			engine = builder.NewEngine(c.server.Client("example"), builder.Options{Name: "example"})
		}
		require.NoError(t, want("c", appsv1.RecreateDeploymentStrategyType), "crash after write %d", crash)
		c.get(found)
		assert.Equal(t, appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}, found.Spec.Strategy)
		assert.Equal(t, "c", found.Spec.Template.Spec.Containers[0].Image)
		before := len(c.server.Ledger().Writes())
		require.NoError(t, want("c", appsv1.RecreateDeploymentStrategyType))
		assert.Len(t, c.server.Ledger().Writes(), before)
	}
}

// What another writer made of an object is put back, though an apply beside it is invalid: the object is never deleted.
func TestRefusedDriftIsPutBack(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func() error {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Name: "p", Port: 80}},
		}}
		_, err := c.engine.For(c.owner).Object(service, builder.RecreateImmutable("")).Reconcile(ctx)
		return err
	}
	require.NoError(t, want())
	found := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	c.get(found)
	uid := found.UID
	found.Spec.Ports[0].Port = 81
	require.NoError(t, c.server.Client("someone").Update(ctx, found))
	require.NoError(t, want())
	c.get(found)
	assert.Equal(t, uid, found.UID)
	require.Len(t, found.Spec.Ports, 1)
	assert.EqualValues(t, 80, found.Spec.Ports[0].Port)
	before := len(c.server.Ledger().Writes())
	require.NoError(t, want())
	assert.Len(t, c.server.Ledger().Writes(), before)
}

// However many faults a drift makes, each of which takes a patch of its own.
func TestManyDriftsArePutBack(t *testing.T) {
	const n = 20
	c, ctx := newCluster(), t.Context()
	want := func() error {
		service := serviceAt(n, 100)
		_, err := c.engine.For(c.owner).Object(service).Reconcile(ctx)
		return err
	}
	require.NoError(t, want())
	found := serviceAt(0, 0)
	c.get(found)
	found.Spec.Ports = serviceAt(n, 200).Spec.Ports
	require.NoError(t, c.server.Client("someone").Update(ctx, found))
	require.NoError(t, want())
	c.get(found)
	require.Len(t, found.Spec.Ports, n)
	assert.EqualValues(t, 100, found.Spec.Ports[0].Port)
}

// serviceAt has n ports from a number on.
func serviceAt(n, from int32) *corev1.Service {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	for i := range n {
		s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", i), Port: from + i})
	}
	return s
}

// A quota that is full of the live objects leaves no room for a trial. Drift beside a change is put back all the same.
func TestDriftBesideAChangeWithoutATrial(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func(label string) error {
		service := serviceAt(1, 80)
		service.Labels = map[string]string{"label": label}
		_, err := c.engine.For(c.owner).Object(service, builder.RecreateImmutable("")).Reconcile(ctx)
		return err
	}
	require.NoError(t, want("1"))
	found := serviceAt(0, 0)
	c.get(found)
	uid := found.UID
	found.Spec.Ports[0].Port = 81
	require.NoError(t, c.server.Client("someone").Update(ctx, found))
	c.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: func(buildertest.Call) error {
		return apierrors.NewForbidden(schema.GroupResource{}, "web", errors.New("exceeded quota"))
	}})
	require.NoError(t, want("2"))
	c.get(found)
	assert.Equal(t, uid, found.UID)
	assert.Equal(t, "2", found.Labels["label"])
	require.Len(t, found.Spec.Ports, 1)
	assert.EqualValues(t, 80, found.Spec.Ports[0].Port)
}

// A second variable of a name is the one that counts, and is removed; init containers get their order back.
func TestTwinsAndOrderArePutBack(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func() error {
		d := web("a")
		d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}}
		d.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "i"}, {Name: "second", Image: "i"}}
		_, err := c.engine.For(c.owner).Deployment(d).Reconcile(ctx)
		return err
	}
	require.NoError(t, want())
	for _, edit := range []func(*corev1.PodSpec){
		func(s *corev1.PodSpec) {
			s.Containers[0].Env = append(s.Containers[0].Env, corev1.EnvVar{Name: "A", Value: "2"})
		},
		func(s *corev1.PodSpec) { slices.Reverse(s.InitContainers) },
	} {
		found := web("")
		c.get(found)
		before := found.DeepCopy()
		edit(&found.Spec.Template.Spec)
		require.NoError(t, c.server.Client("someone").Update(ctx, found))
		require.NoError(t, want())
		c.get(found)
		assert.Equal(t, before.Spec, found.Spec)
	}
}

// What is put back by a patch before the apply doesn't keep a later change from being complete: what the API server had
// derived from a field goes with the field.
func TestDerivedFieldsFollowAfterDrift(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func(account string) {
		d := web("a")
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		d.Spec.Template.Spec.ServiceAccountName = account
		_, err := c.engine.For(c.owner).Deployment(d).Reconcile(ctx)
		require.NoError(t, err)
	}
	want("old")
	want("strong")
	found := web("")
	c.get(found)
	found.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	require.NoError(t, c.server.Client("someone").Update(ctx, found))
	want("strong")
	want("")
	c.get(found)
	assert.Empty(t, found.Spec.Template.Spec.ServiceAccountName)
	assert.Empty(t, found.Spec.Template.Spec.DeprecatedServiceAccount)
}

func policy(egress bool) *networkingv1.NetworkPolicy {
	p := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}}
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
	if egress {
		p.Spec.Egress = []networkingv1.NetworkPolicyEgressRule{{}}
	}
	return p
}

// A trial that fails for a moment is made again before a change is applied.
func TestChangeWaitsForATrialThatFailsForAMoment(t *testing.T) {
	for name, c := range map[string]struct {
		err   func(buildertest.Call) error
		lasts bool
	}{
		"too many":   {err: func(buildertest.Call) error { return apierrors.NewTooManyRequests("slow down", 1) }},
		"internal":   {err: buildertest.Internal},
		"timeout":    {err: func(buildertest.Call) error { return apierrors.NewTimeoutError("timeout", 1) }},
		"connection": {err: func(buildertest.Call) error { return errors.New("connection refused") }},
		"webhook is down": {err: func(buildertest.Call) error {
			return apierrors.NewInternalError(errors.New("failed calling webhook x"))
		}},
		"quota or rights": {err: func(buildertest.Call) error {
			return apierrors.NewForbidden(schema.GroupResource{}, "p", errors.New("no"))
		}, lasts: true},
		"denied": {err: func(buildertest.Call) error {
			return apierrors.NewConflict(schema.GroupResource{}, "p", errors.New("webhook x denied the request"))
		}, lasts: true},
		"dry run unknown": {err: func(buildertest.Call) error {
			return apierrors.NewBadRequest("admission webhook x does not support dry run")
		}, lasts: true},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, ctx := newCluster(), t.Context()
			var events []string
			engine := buildertest.NewEngine(cluster, builder.Options{Name: "example", Recorder: recorderFunc(func(event string) { events = append(events, event) })}, buildertest.EngineOptions{Clock: cluster.Now})
			want := func(egress bool, label string) error {
				p := policy(egress)
				p.Labels = map[string]string{"label": label}
				_, err := engine.For(cluster.owner).Object(p).Reconcile(ctx)
				return err
			}
			require.NoError(t, want(false, "1"))
			require.NoError(t, want(false, "2"))
			cluster.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: c.err})
			err := want(true, "2")
			found := policy(false)
			if c.lasts {
				require.NoError(t, err)
				cluster.get(found)
				assert.Len(t, found.Spec.Egress, 1, "it is applied")
				assert.Contains(t, strings.Join(events, "\n"), "Warning DryRunRefused: ")
				return
			}
			require.Error(t, err)
			assert.False(t, builder.IsTerminal(err))
			cluster.Heal()
			require.NoError(t, want(true, "2"))
			cluster.get(found)
			assert.Equal(t, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}, found.Spec.PolicyTypes)
			assert.NotContains(t, strings.Join(events, "\n"), "DryRunRefused")
		})
	}
}

// Whether a refused change is one of an immutable field isn't known as long as the trial fails for a moment: it is tried again.
func TestRefusedChangeWaitsForATrialThatFailsForAMoment(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	orphan := web("a")
	orphan.Namespace = "default"
	require.NoError(t, c.server.Client("someone").Create(ctx, orphan))
	want := func() error {
		d := web("a")
		d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
		_, err := c.engine.For(c.owner).Object(d, builder.Adopt(builder.AdoptOptions{})).Reconcile(ctx)
		return err
	}
	c.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: func(buildertest.Call) error { return apierrors.NewTooManyRequests("slow down", 1) }})
	err := want()
	require.ErrorContains(t, err, "slow down")
	require.False(t, builder.IsTerminal(err))
	c.Heal()
	require.NoError(t, want())
}

type recorderFunc func(event string)

func (f recorderFunc) Eventf(_, _ runtime.Object, eventtype, reason, _, _ string, args ...any) {
	f(eventtype + " " + reason + ": " + args[0].(string))
}

// A change that was made by a patch, but not applied, isn't taken for what was desired before.
func TestRevertAfterACrashTakesAllBack(t *testing.T) {
	for crash := range 5 {
		c, ctx := newCluster(), t.Context()
		want := func(engine *builder.Engine, other bool) error {
			d := web("b")
			if other {
				d.Spec.Strategy.Type, d.Spec.Template.Spec.HostNetwork = appsv1.RecreateDeploymentStrategyType, true
			}
			_, err := engine.For(c.owner).Deployment(d).Reconcile(ctx)
			return err
		}
		_, err := c.engine.For(c.owner).Deployment(web("a")).Reconcile(ctx)
		require.NoError(t, err)
		require.NoError(t, want(c.engine, false))
		mortal := c.server.Client("example")
		mortal.CrashAfter(crash)
		_ = want(builder.NewEngine(mortal, builder.Options{Name: "example"}), true)
		engine := builder.NewEngine(c.server.Client("example"), builder.Options{Name: "example"})
		require.NoError(t, want(engine, false), "crash after write %d", crash)
		found := web("")
		c.get(found)
		assert.False(t, found.Spec.Template.Spec.HostNetwork, "crash after write %d", crash)
		assert.Equal(t, appsv1.RollingUpdateDeploymentStrategyType, found.Spec.Strategy.Type, "crash after write %d", crash)
		before := len(c.server.Ledger().Writes())
		require.NoError(t, want(engine, false))
		assert.Len(t, c.server.Ledger().Writes(), before)
	}
}
