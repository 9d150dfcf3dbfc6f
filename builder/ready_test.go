package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/events"
)

// makeReady sets the status that a Deployment's controller sets in the end.
func makeReady(d *appsv1.Deployment) {
	n := *d.Spec.Replicas
	d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
}

func TestPendingHasTheChildrenThatAreNotReady(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	pass := func() Result {
		res, err := e.For(owner()).Deployment(deployment("web")).ConfigMap(config("c")).Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	res := pass()
	require.Len(t, res.notReady(), 1)
	assert.Equal(t, "Deployment.apps default/web: 0 of 2 replicas updated", res.notReady()[0].String())
	assert.Equal(t, events.ReasonChildrenNotReady, res.notReady()[0].Reason)

	d := &appsv1.Deployment{}
	require.NoError(t, e.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "web"}, d))
	makeReady(d)
	require.NoError(t, e.client.Status().Update(t.Context(), d))
	assert.Empty(t, pass().notReady())

	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}
	require.NoError(t, e.client.Status().Update(t.Context(), d))
	res = pass()
	require.Len(t, res.notReady(), 1)
	assert.Equal(t, events.ReasonChildFailed, res.notReady()[0].Reason)
}

func TestReadyWhen(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	var asked client.Object
	ready := false
	pass := func() Result {
		res, err := e.For(owner()).
			ConfigMap(config("c"), ReadyWhen(func(o client.Object) readiness.Status {
				asked = o
				return readiness.Status{Ready: ready, Message: "not yet"}
			})).
			ConfigMap(config("d"), ReadyWhen(nil)).
			Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	res := pass()
	assert.IsType(t, &corev1.ConfigMap{}, asked)
	require.Len(t, res.notReady(), 1)
	assert.Equal(t, "ConfigMap default/c: not yet", res.notReady()[0].String())
	ready = true
	assert.Empty(t, pass().notReady())
}

// A child whose ReadyWhen panics isn't ready, and the other children are applied. It hasn't failed: that would roll back what may be well.
func TestAReadyWhenThatPanics(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	res, err := e.For(owner()).
		ConfigMap(config("c"), ReadyWhen(func(o client.Object) readiness.Status { panic("no key") })).
		ConfigMap(config("d")).
		Reconcile(t.Context())
	require.NoError(t, err)
	assert.Len(t, res.Changes, 2)
	require.Len(t, res.notReady(), 1)
	assert.Equal(t, "ConfigMap default/c: ReadyWhen panicked: no key; the log has the stack", res.notReady()[0].String())
	assert.Equal(t, events.ReasonChildrenNotReady, res.notReady()[0].Reason)
}

func TestWhatIsNotAppliedIsNotJudged(t *testing.T) {
	theirs := config("theirs")
	theirs.Namespace = "default"
	e := engineWith(interceptor.Funcs{}, theirs)
	res, err := e.For(owner()).
		ConfigMap(config("theirs"), ReadyWhen(func(client.Object) readiness.Status { t.Error("asked"); return readiness.Status{} })).
		Reconcile(t.Context())
	assert.ErrorIs(t, err, ErrNotOwned)
	assert.Empty(t, res.notReady(), "the error says it")
}
