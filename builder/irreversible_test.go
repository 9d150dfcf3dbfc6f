package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/events"
)

func sealedSecret(data map[string]string, labels map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", Labels: labels}, StringData: data}
}

// What someone else has sealed is never deleted, whatever they changed before, and whatever else is desired now.
func TestSealedByOthersIsNotDeleted(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(*corev1.Secret)
		desired *corev1.Secret
	}{
		"a key removed":     {func(s *corev1.Secret) { delete(s.Data, "a") }, sealedSecret(map[string]string{"a": "1"}, map[string]string{"changed": "1"})},
		"a key changed":     {func(s *corev1.Secret) { s.Data["a"] = []byte("2") }, sealedSecret(map[string]string{"a": "1"}, map[string]string{"changed": "1"})},
		"only sealed":       {func(*corev1.Secret) {}, sealedSecret(map[string]string{"a": "2"}, nil)},
		"a key, of another": {func(s *corev1.Secret) { s.Data["b"] = []byte("2") }, sealedSecret(map[string]string{"a": "2", "b": "1"}, nil)},
	} {
		for _, applied := range []bool{false, true} {
			t.Run(name+map[bool]string{false: ", as created", true: ", as applied"}[applied], func(t *testing.T) {
				cluster, ctx := newCluster(), t.Context()
				want := func(s *corev1.Secret) error {
					_, err := cluster.engine.For(cluster.owner).Object(s, builder.RecreateImmutable("")).Reconcile(ctx)
					return err
				}
				require.NoError(t, want(sealedSecret(map[string]string{"a": "1"}, nil)))
				if applied {
					require.NoError(t, want(sealedSecret(map[string]string{"a": "0"}, nil)))
					require.NoError(t, want(sealedSecret(map[string]string{"a": "1"}, nil)))
				}
				found := sealedSecret(nil, nil)
				cluster.get(found)
				uid := found.UID
				c.edit(found)
				found.Immutable = new(true)
				require.NoError(t, cluster.server.Client("someone").Update(ctx, found))
				err := want(c.desired)
				require.ErrorContains(t, err, `"someone"`)
				require.NotErrorIs(t, err, builder.ErrImmutable)
				cluster.get(found)
				assert.Equal(t, uid, found.UID)
			})
		}
	}
}

// What the plan itself has sealed is recreated as the policy says.
func TestSealedByThePlanIsRecreated(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func(value string, sealed *bool) builder.Result {
		s := sealedSecret(map[string]string{"a": value}, nil)
		s.Immutable = sealed
		res, err := c.engine.For(c.owner).Object(s, builder.RecreateImmutable("")).Reconcile(ctx)
		require.NoError(t, err)
		return res
	}
	want("1", new(true))
	assert.Equal(t, events.ReasonRecreating, want("2", new(true)).Changes[0].Reason)
	want("2", new(true))
	assert.Equal(t, events.ReasonUpdated, want("2", nil).Changes[0].Reason, "no longer sealed by the plan: it stays so, as no one's")
	assert.Equal(t, events.ReasonRecreating, want("3", nil).Changes[0].Reason)
}

// Whether a child is ready isn't asked of the object that has just been deleted to make way for it.
func TestReadyWhenIsNotAskedOfADeletedObject(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	var asked []string
	want := func(value string) builder.Result {
		s := sealedSecret(map[string]string{"a": value}, nil)
		s.Immutable = new(true)
		res, err := c.engine.For(c.owner).Object(s, builder.RecreateImmutable(""), builder.ReadyWhen(func(o client.Object) readiness.Status {
			asked = append(asked, string(o.(*corev1.Secret).Data["a"]))
			return readiness.Status{Message: "is never ready"}
		})).Reconcile(ctx)
		require.NoError(t, err)
		return res
	}
	want("1")
	res := want("2")
	assert.Equal(t, events.ReasonRecreating, res.Changes[0].Reason)
	require.Len(t, res.Pending, 1, "one status of the child")
	assert.Equal(t, events.ReasonWaiting, res.Pending[0].Reason)
	want("2")
	assert.Equal(t, []string{"1", "2"}, asked)
}

func statefulSetOf(replicas int32, service string) *appsv1.StatefulSet {
	labels := map[string]string{"app": "set"}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "set"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: service, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "a"}}},
			},
		},
	}
}

// What others have changed, and could be changed back, is no reason not to recreate.
func TestChangeableDriftIsNoObstacle(t *testing.T) {
	c, ctx := newCluster(), t.Context()
	want := func(set *appsv1.StatefulSet) (builder.Result, error) {
		return c.engine.For(c.owner).Object(set, builder.RecreateImmutable("")).Reconcile(ctx)
	}
	_, err := want(statefulSetOf(1, "a"))
	require.NoError(t, err)
	found := statefulSetOf(1, "")
	c.get(found)
	found.Spec.Replicas, found.Spec.Template.Spec.Containers[0].Image = ptr.To[int32](3), "theirs"
	require.NoError(t, c.server.Client("someone").Update(ctx, found))
	res, err := want(statefulSetOf(1, "b"))
	require.NoError(t, err)
	assert.Equal(t, events.ReasonRecreating, res.Changes[0].Reason)
}
