package builder_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
)

// fleet is a cluster with several owners, each with a Deployment, and an operator that is upgraded. The owners are JobFlows, because
// they are Conditioned; their flow's name stands for what a user can choose.
type fleet struct {
	*testing.T
	server *buildertest.Server
	world  client.Client
	now    time.Time
	owners []string

	operator *buildertest.Client
	reconcile.Reconciler
	programs []string // the passes' programs and owners, for diagnosis
}

// program is a version of the operator.
type program struct {
	build, image string
	replicas     int32
	limit        string
	more         func(flow *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow])
}

func newFleet(t *testing.T, owners ...string) *fleet {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	f := &fleet{T: t, owners: owners, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	f.server = buildertest.NewServer(scheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}))
	f.world = f.server.Client("world")
	for _, name := range owners {
		require.NoError(t, f.world.Create(t.Context(), newFlow(name)))
	}
	return f
}

func newFlow(name string) *v1alpha1.JobFlow {
	name, canary := strings.CutPrefix(name, "canary:")
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.JobFlowSpec{
		Flows: []v1alpha1.Flow{{Name: "small"}},
	}}
	if canary {
		flow.Labels = map[string]string{"armature.dev/canary": "true"}
	}
	return flow
}

// starts starts a process of a program.
func (f *fleet) starts(p program) {
	f.Helper()
	f.operator = f.server.Client("operator")
	r, err := operatorOf(p, f.operator, func() time.Time { return f.now })
	require.NoError(f, err)
	f.Reconciler = r
}

func operatorOf(p program, c client.Client, clock func() time.Time) (reconcile.Reconciler, error) {
	op := builder.NewOperator[*v1alpha1.JobFlow](nil, "flow").Owns(&appsv1.Deployment{}).Owns(&corev1.ConfigMap{}).Plan(
		func(flow *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
			labels := map[string]string{"app": flow.Name}
			plan := builder.Plan[*v1alpha1.JobFlow]{Report: true, PruneAll: true, Children: []builder.Child{
				builder.Want(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: flow.Name}, Spec: appsv1.DeploymentSpec{
					Replicas: new(max(p.replicas, 1)), Selector: &metav1.LabelSelector{MatchLabels: labels},
					Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
						Containers: []corev1.Container{{Name: flow.Spec.Flows[0].Name, Image: p.image}},
					}},
				}}),
			}}
			if p.more != nil {
				p.more(flow, &plan)
			}
			return plan
		})
	limit, err := turns.ParseLimit(p.limit)
	if err != nil {
		return nil, err
	}
	if p.limit != "" {
		builder.InTurns(op, turns.Settings{
			Limit: limit, ReadyWithin: 10 * time.Minute, Namespace: "system", Prefix: "rollout", Build: p.build,
		})
	}
	return buildertest.NewReconciler(op, c, clock)
}

// round runs a pass over each owner that exists.
func (f *fleet) round() {
	f.Helper()
	for _, name := range f.owners {
		f.pass(name)
	}
}

func (f *fleet) pass(name string) time.Duration {
	f.Helper()
	res, err := f.Reconcile(f.Context(), reconcile.Request{NamespacedName: key(name)})
	require.NoError(f, err)
	return res.RequeueAfter
}

func key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: strings.TrimPrefix(name, "canary:")}
}

// becomesReady reports the Deployments of owners as ready.
func (f *fleet) becomesReady(names ...string) {
	f.Helper()
	for _, name := range names {
		var d appsv1.Deployment
		require.NoError(f, f.world.Get(f.Context(), key(name), &d))
		n := *d.Spec.Replicas
		d.Status = appsv1.DeploymentStatus{
			ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
		}
		require.NoError(f, f.world.Status().Update(f.Context(), &d))
	}
}

// runs brings all owners of a first program to readiness.
func (f *fleet) runs(p program) {
	f.Helper()
	f.starts(p)
	f.round()
	f.becomesReady(f.owners...)
	f.round()
	f.round()
	require.Equal(f, turns.Complete, f.record().State)
}

// images are the images of the Deployments, in the order of the owners.
func (f *fleet) images() string {
	f.Helper()
	var all []string
	for _, name := range f.owners {
		var d appsv1.Deployment
		require.NoError(f, f.world.Get(f.Context(), key(name), &d))
		all = append(all, d.Spec.Template.Spec.Containers[0].Image)
	}
	return strings.Join(all, " ")
}

func (f *fleet) flow(name string) *v1alpha1.JobFlow {
	f.Helper()
	var flow v1alpha1.JobFlow
	require.NoError(f, f.world.Get(f.Context(), key(name), &flow))
	return &flow
}

// marks are the owners' conditions Released, by their reasons.
func (f *fleet) marks() string {
	f.Helper()
	var all []string
	for _, name := range f.owners {
		reason := "-"
		if c := meta.FindStatusCondition(f.flow(name).Status.Conditions, events.ConditionReleased); c != nil {
			reason = c.Reason
		}
		all = append(all, reason)
	}
	return strings.Join(all, " ")
}

func (f *fleet) record() turns.Record {
	f.Helper()
	var cm corev1.ConfigMap
	require.NoError(f, f.world.Get(f.Context(), client.ObjectKey{Namespace: "system", Name: "rollout-flow"}, &cm))
	r, err := turns.ReadRecord(&cm)
	require.NoError(f, err)
	return r
}

// decide changes the record as a user does.
func (f *fleet) decide(change func(*turns.Record)) {
	f.Helper()
	var cm corev1.ConfigMap
	require.NoError(f, f.world.Get(f.Context(), client.ObjectKey{Namespace: "system", Name: "rollout-flow"}, &cm))
	r, err := turns.ReadRecord(&cm)
	require.NoError(f, err)
	change(&r)
	r.Write(&cm)
	require.NoError(f, f.world.Update(f.Context(), &cm))
	f.now = f.now.Add(10 * time.Second)
}

var (
	one = program{build: "1111111111", image: "web:1", limit: "1"}
	two = program{build: "2222222222", image: "web:2", limit: "1"}
)

// A new build changes one owner after the other, each when the earlier one is ready.
func TestOwnerByOwner(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(two)
	f.operator.Ledger().Reset()
	f.round()
	assert.Equal(t, "web:1 web:1 web:1", f.images())
	assert.Equal(t, "Releasing WaitingForTurn WaitingForTurn", f.marks())
	c := meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReleased)
	assert.Equal(t, metav1.ConditionFalse, c.Status)
	assert.Equal(t, "22222222-20260101T010000Z: Deployment.apps default/b restarts pods", c.Message)
	assert.Equal(t, "Ready", meta.FindStatusCondition(f.flow("b").Status.Conditions, events.ConditionReady).Reason, "as it was")

	f.round()
	assert.Equal(t, "web:2 web:1 web:1", f.images())
	f.server.Ledger().Reset()
	f.round()
	assert.Empty(t, f.server.Ledger().Writes(), "what waits costs nothing")
	assert.Equal(t, 10*time.Second, f.pass("b"))

	f.becomesReady("a")
	f.round()
	assert.Equal(t, "Released Releasing WaitingForTurn", f.marks())
	f.round()
	assert.Equal(t, "web:2 web:2 web:1", f.images())
	f.becomesReady("b")
	f.round()
	f.round()
	f.becomesReady("c")
	assert.Equal(t, turns.Progressing, f.record().State)
	f.round()
	assert.Equal(t, "web:2 web:2 web:2", f.images())
	assert.Equal(t, "Released Released Released", f.marks())
	assert.Equal(t, turns.Complete, f.record().State)

	f.server.Ledger().Reset()
	f.starts(two)
	f.round()
	assert.Empty(t, f.server.Ledger().Writes())
}

// A new build that disrupts nothing writes its record, and nothing to owners.
func TestReleaseWithoutDisruption(t *testing.T) {
	f := newFleet(t, "a", "b", "c")
	f.runs(one)
	f.now = f.now.Add(time.Hour)
	f.starts(program{build: "3333333333", image: "web:1", limit: "1", replicas: 2})
	f.server.Ledger().Reset()
	f.round()
	assert.Equal(t, "- - -", f.marks())
	for _, w := range f.server.Ledger().Writes() {
		assert.False(t, w.Verb == "patch" && strings.Contains(fmt.Sprint(w), "Released"))
	}
	assert.Equal(t, turns.Complete, f.record().State)
}

// Of what is told with an error, the test keeps none.
var _ = context.Background
