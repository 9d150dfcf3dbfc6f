package builder_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
)

// made makes an object as another manager would.
func (w *world) made(obj client.Object, manager string) client.Object {
	obj = obj.DeepCopyObject().(client.Object)
	obj.SetNamespace(w.ns)
	require.NoError(w.t, w.live.Create(w.ctx, obj, client.FieldOwner(manager)))
	w.settle(obj)
	return obj
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func TestOrphanIsAdopted(t *testing.T) {
	for name, c := range map[string]struct {
		manager string
		former  []string
		goes    bool
	}{
		"of kubectl apply":    {manager: "kubectl-client-side-apply", goes: true},
		"of a named operator": {manager: "old-operator", former: []string{"old-operator"}, goes: true},
		"of anyone":           {manager: "someone"},
	} {
		for _, indexed := range [][]client.Object{nil, {&appsv1.Deployment{}}} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, indexed...)
				theirs := webDeployment()
				theirs.Labels = map[string]string{"theirs": "1"}
				theirs.Annotations = map[string]string{lastApplied: "{}"}
				before := w.made(theirs, c.manager)

				wanted := webDeployment()
				wanted.Spec.Template.Spec.Tolerations = nil
				_, sent, err := w.want(wanted)
				require.ErrorIs(t, err, builder.ErrNotOwned)
				assert.ErrorContains(t, err, "it has no controller")
				assert.Empty(t, sent)
				w.told.take()

				option := builder.Adopt(builder.AdoptOptions{FormerManagers: c.former})
				w.mustWant(true, "adopt", wanted, option)
				told := w.told.take()
				assert.Equal(t, "Normal Adopted Apply: Adopted Deployment web", told[0])
				assert.Len(t, told[1:], map[bool]int{true: 0, false: 1}[c.goes])
				for _, left := range told[1:] {
					assert.Contains(t, left, "Warning FieldsLeft Apply: Deployment web keeps ")
					assert.Contains(t, left, `builder.Adopt(builder.AdoptOptions{FormerManagers: []string{"someone"}})`)
				}
				got := w.get(wanted).(*appsv1.Deployment)
				assert.Equal(t, before.GetUID(), got.UID, "the same object")
				assert.True(t, metav1.IsControlledBy(got, w.owner))
				if c.goes {
					assert.NotContains(t, got.Labels, "theirs")
					assert.NotContains(t, got.Annotations, lastApplied)
					assert.Empty(t, got.Spec.Template.Spec.Tolerations)
				} else {
					assert.Equal(t, "1", got.Labels["theirs"])
					assert.Len(t, got.Spec.Template.Spec.Tolerations, 1)
				}
				w.mustWant(false, "adopted", wanted, option)
				w.mustWant(false, "adopted, and the option gone", wanted)
				wanted.Spec.Template.Spec.Volumes = nil
				w.mustWant(true, "a field removed", wanted, option)
				assert.Equal(t, c.goes, len(w.get(wanted).(*appsv1.Deployment).Spec.Template.Spec.Volumes) == 0)
				assert.Equal(t, []string{"Normal Updated Apply: Updated Deployment web"}, w.told.take())
			})
		}
	}
}

func TestAppliedByAFormerOperator(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	former := builder.NewEngine(w.cached, builder.Options{Name: "former"})
	for _, data := range []string{"1", "2"} { // created, then applied
		_, err := former.For(w.owner).ConfigMap(configMap("c", "gone", data)).Reconcile(w.ctx)
		require.NoError(t, err)
		w.settle(configMap("c"))
	}
	w.mustWant(true, "of the same owner, under another name", configMap("c", "a", "1"), builder.Adopt(builder.AdoptOptions{FormerManagers: []string{"former"}}))
	assert.Equal(t, map[string]string{"a": "1"}, w.get(configMap("c")).(*corev1.ConfigMap).Data)
}

func TestAdoptedWithIgnoredFields(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	theirs := webDeployment()
	*theirs.Spec.Replicas = 3
	theirs.Spec.Template.Spec.NodeSelector = map[string]string{"none": "such"}
	w.made(theirs, "kubectl-client-side-apply")
	w.mustWant(true, "adopt", webDeployment(), builder.Adopt(builder.AdoptOptions{}), builder.Ignore("spec.replicas"))
	assert.EqualValues(t, 3, w.replicas(theirs))
}

func TestControlledObjectsAreNotAdopted(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	other := w.newOwner("other")
	_, err := builder.NewEngine(w.cached, builder.Options{Name: "rival"}).For(other).ConfigMap(configMap("c", "a", "1")).Reconcile(w.ctx)
	require.NoError(t, err)
	for range 3 {
		_, sent, err := w.want(configMap("c", "a", "2"), builder.Adopt(builder.AdoptOptions{}))
		require.ErrorIs(t, err, builder.ErrNotOwned)
		assert.ErrorContains(t, err, "controlled by ConfigMap other")
		assert.Empty(t, sent, "no fight")
	}
	assert.Len(t, w.told.take(), 1, "told once")
	assert.Equal(t, "1", w.get(configMap("c")).(*corev1.ConfigMap).Data["a"])

	w.edit(configMap("c"), func(o client.Object) { o.SetOwnerReferences(nil) }) // let go
	w.mustWant(true, "free", configMap("c", "a", "2"), builder.Adopt(builder.AdoptOptions{}))
}

func TestOrphanBeingDeletedIsWaitedFor(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	theirs := configMap("c", "a", "1")
	theirs.Finalizers = []string{"example.com/hold"}
	before := w.made(theirs, "someone")
	require.NoError(t, w.live.Delete(w.ctx, before))
	w.settle(theirs)
	res, sent, err := w.want(configMap("c", "a", "2"), builder.Adopt(builder.AdoptOptions{}))
	require.NoError(t, err)
	assert.Empty(t, sent)
	assert.Len(t, pending(res, events.ReasonWaiting), 1)
	release := w.get(theirs)
	release.SetFinalizers(nil)
	require.NoError(t, w.live.Update(w.ctx, release))
	w.eventually(func() bool {
		res, _, err := w.want(configMap("c", "a", "2"), builder.Adopt(builder.AdoptOptions{}))
		return err == nil && len(res.Changes) > 0
	}, "the name to be free")
	assert.NotEqual(t, before.GetUID(), w.get(theirs).GetUID())
}

// One wins; the other is refused, or tries again and is refused then.
func TestTwoAdoptersDoNotFight(t *testing.T) {
	for range 5 {
		w := newWorld(t, &corev1.ConfigMap{})
		before := w.made(configMap("c", "a", "1"), "kubectl-client-side-apply")
		owners := []*corev1.ConfigMap{w.owner, w.newOwner("other")}
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, name := range []string{"tester", "rival"} {
			// Both see it as it was before either of them.
			e := builder.NewEngine(staleReads{w.cached, before}, builder.Options{Name: name, Reader: w.live})
			both.Go(func() {
				_, errs[i] = e.For(owners[i]).Object(configMap("c", "a", name), builder.Adopt(builder.AdoptOptions{})).Reconcile(w.ctx)
			})
		}
		both.Wait()
		won := 0
		for i := range errs {
			if errs[i] == nil {
				won++
				assert.True(t, metav1.IsControlledBy(w.get(configMap("c")), owners[i]))
			} else {
				assert.True(t, apierrors.IsConflict(leaf(errs[i])), "%v", errs[i])
			}
		}
		assert.LessOrEqual(t, won, 1)
		assert.LessOrEqual(t, len(w.get(configMap("c")).GetOwnerReferences()), 1)
	}
}

// mortal is a client that can make some writes, and then no more.
type mortal struct {
	client.Client
	left int
	err  error
}

func (m *mortal) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if m.left--; m.left < 0 {
		return m.err
	}
	return m.Client.Patch(ctx, obj, patch, opts...)
}

func TestCrashWhileAdopting(t *testing.T) {
	died := errors.New("the process died")
	for _, after := range []int{0, 1} { // 0: before the first write; 1: between the two
		w := newWorld(t, &corev1.ConfigMap{})
		theirs := configMap("c", "gone", "1")
		theirs.Labels = map[string]string{"theirs": "1"}
		before := w.made(theirs, "kubectl-client-side-apply")
		dying := &mortal{Client: w.cached, left: after, err: died}
		_, err := builder.NewEngine(dying, builder.Options{Name: "tester"}).For(w.owner).
			Object(configMap("c", "a", "1"), builder.Adopt(builder.AdoptOptions{})).Reconcile(w.ctx)
		require.ErrorIs(t, err, died)
		got := w.get(theirs).(*corev1.ConfigMap)
		assert.Equal(t, "1", got.Data["gone"], "nothing is lost on the way")
		assert.Empty(t, got.OwnerReferences)

		w.mustWant(true, "the next life", configMap("c", "a", "1"), builder.Adopt(builder.AdoptOptions{}))
		got = w.get(theirs).(*corev1.ConfigMap)
		assert.Equal(t, before.GetUID(), got.UID)
		assert.Equal(t, map[string]string{"a": "1"}, got.Data)
		assert.NotContains(t, got.Labels, "theirs")
		assert.True(t, metav1.IsControlledBy(got, w.owner))
	}
}
