package builder_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/test/testcluster"
)

// away is a world with a second namespace.
type away struct {
	*world
	there string
}

func newAway(t *testing.T, owned ...client.Object) *away {
	return &away{world: newWorld(t, owned...), there: testcluster.Namespace(t)}
}

func (a *away) configMap(name string, data ...string) *corev1.ConfigMap {
	c := configMap(name, data...)
	c.Namespace = a.there
	return c
}

// role is cluster-scoped; its name has the namespace in it, since other tests have some too.
func (a *away) role() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: a.ns + "-role"}}
}

// at reads an object where it says it is. Nil: it doesn't exist.
func (a *away) at(obj client.Object) client.Object {
	found := obj.DeepCopyObject().(client.Object)
	err := a.live.Get(a.ctx, client.ObjectKeyFromObject(obj), found)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(a.t, err)
	return found
}

// read reads the owner as a reconciler does. It reports false if there is none.
func (a *away) read() bool {
	a.eventually(func() bool {
		live := a.at(a.owner)
		err := a.cached.Get(a.ctx, client.ObjectKeyFromObject(a.owner), a.owner)
		if live == nil {
			return apierrors.IsNotFound(err)
		}
		return err == nil && live.GetResourceVersion() == a.owner.ResourceVersion
	}, "the cache to show the owner")
	return a.at(a.owner) != nil
}

// want runs a pass that wants objects elsewhere.
func (a *away) want(b func(*builder.Builder) *builder.Builder, objs ...client.Object) (builder.Result, []string, error) {
	a.t.Helper()
	require.True(a.t, a.read())
	build := b(a.engine.For(a.owner))
	for _, o := range objs {
		build.Object(o, builder.CrossNamespace())
	}
	return a.passFor(build)
}

func prunesAll(b *builder.Builder) *builder.Builder { return b.PruneAll() }

func prunesNothing(b *builder.Builder) *builder.Builder { return b }

func TestChildrenElsewhere(t *testing.T) {
	a := newAway(t, &corev1.ConfigMap{})
	c, role := a.configMap("c", "k", "1"), a.role()
	_, _, err := a.want(prunesNothing, c, role)
	require.NoError(t, err)
	owner := a.at(a.owner)
	assert.Equal(t, []string{wellknown.Finalizer}, owner.GetFinalizers())
	assert.Equal(t, "ClusterRole.rbac.authorization.k8s.io,ConfigMap", owner.GetAnnotations()[wellknown.AnnotationGroupKindsCrossNamespace])
	assert.Empty(t, owner.GetAnnotations()[wellknown.AnnotationGroupKinds])
	for _, obj := range []client.Object{c, role} {
		found := a.at(obj)
		require.NotNil(t, found)
		assert.Empty(t, found.GetOwnerReferences())
		assert.Equal(t, string(owner.GetUID()), found.GetLabels()[wellknown.LabelOwnerUID])
		assert.Equal(t, "ConfigMap", found.GetAnnotations()[wellknown.AnnotationOwnerKind])
		assert.Equal(t, a.ns+"/owner", found.GetAnnotations()[wellknown.AnnotationOwner])
	}
	_, sent, err := a.want(prunesNothing, c, role)
	require.NoError(t, err)
	assert.Empty(t, sent)

	// Drift and change are as everywhere.
	drifted := a.at(c).(*corev1.ConfigMap)
	drifted.Data["k"] = "2"
	require.NoError(t, a.live.Update(a.ctx, drifted))
	a.eventually(func() bool {
		_, _, err := a.want(prunesNothing, c, role)
		return err == nil && a.at(c).(*corev1.ConfigMap).Data["k"] == "1"
	}, "repair")

	// Prune by named kinds, then all.
	_, _, err = a.want(prunesNothing, c, role, a.configMap("d"))
	require.NoError(t, err)
	named := func(b *builder.Builder) *builder.Builder { return b.Prune(&corev1.ConfigMap{}) }
	res, _, err := a.want(named, c)
	require.NoError(t, err)
	assert.Len(t, res.Changes, 1)
	assert.Nil(t, a.at(a.configMap("d")))
	assert.NotNil(t, a.at(role), "of a kind that isn't named")
	res, _, err = a.want(prunesAll, c)
	require.NoError(t, err)
	assert.Len(t, res.Changes, 1)
	assert.Nil(t, a.at(role))
	_, sent, err = a.want(prunesAll, c)
	require.NoError(t, err)
	assert.Empty(t, sent)
	_, _, err = a.want(prunesAll)
	require.NoError(t, err)
	assert.Nil(t, a.at(c))
	assert.Empty(t, a.at(a.owner).GetFinalizers(), "nothing is elsewhere any more")
	assert.NotContains(t, a.at(a.owner).GetAnnotations(), wellknown.AnnotationGroupKindsCrossNamespace)
}

func TestWhatIsElsewhereAndNotOurs(t *testing.T) {
	a := newAway(t)
	other := a.newOwner("other")
	unmarked, others := a.configMap("unmarked"), a.configMap("others")
	others.Labels = map[string]string{wellknown.LabelOwnerUID: string(other.UID)}
	controlled := a.configMap("controlled")
	controlled.Labels = map[string]string{wellknown.LabelOwnerUID: string(a.owner.UID)}
	boss := a.configMap("boss")
	require.NoError(t, a.live.Create(a.ctx, boss))
	controlled.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(boss, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
	for _, theirs := range []*corev1.ConfigMap{unmarked, others, controlled} {
		require.NoError(t, a.live.Create(a.ctx, theirs.DeepCopy()))
		_, _, err := a.want(prunesAll, a.configMap(theirs.Name, "k", "mine"))
		require.ErrorIs(t, err, builder.ErrNotOwned, theirs.Name)
		assert.Empty(t, a.at(theirs).(*corev1.ConfigMap).Data, theirs.Name)
	}
	told := strings.Join(a.told.take(), "\n")
	assert.Contains(t, told, `exists and is not ours: its label armature.dev/owner-uid is ""`)
	assert.Contains(t, told, events.ReasonNotOwned)

	_, _, err := a.want(prunesAll)
	require.NoError(t, err)
	for _, theirs := range []*corev1.ConfigMap{unmarked, others} {
		assert.NotNil(t, a.at(theirs), theirs.Name)
	}

	// Two owners want the same.
	_, _, err = a.want(prunesNothing, a.configMap("one"))
	require.NoError(t, err)
	_, err = a.engine.For(a.get(other)).Object(a.configMap("one"), builder.CrossNamespace()).Reconcile(a.ctx)
	require.ErrorIs(t, err, builder.ErrNotOwned)

	for _, misuse := range []client.Object{configMap("nowhere"), a.configMap("")} {
		_, _, err = a.want(prunesNothing, misuse)
		require.ErrorIs(t, err, builder.ErrMisuse)
	}
}

func TestOwnerWaitsForItsChildrenElsewhere(t *testing.T) {
	a := newAway(t)
	held, role := a.configMap("held"), a.role()
	held.Finalizers = []string{"example.com/hold"}
	_, _, err := a.want(prunesNothing, held, role)
	require.NoError(t, err)
	require.NoError(t, a.live.Delete(a.ctx, a.owner))
	require.True(t, a.read())

	d, err := a.engine.For(a.owner).Diff(a.ctx)
	require.NoError(t, err)
	assert.Len(t, d.Changes, 2)
	assert.NotNil(t, a.at(role))

	res, _, err := a.want(prunesNothing, a.configMap("new"))
	require.NoError(t, err)
	assert.Len(t, res.Changes, 2)
	require.Len(t, pending(res, events.ReasonWaiting), 1)
	assert.Equal(t, "held", pending(res, events.ReasonWaiting)[0].Key.Name)
	assert.NotZero(t, res.RequeueAfter)
	assert.Nil(t, a.at(role))
	assert.Nil(t, a.at(a.configMap("new")), "nothing is made for it")
	res, _, err = a.want(prunesNothing)
	require.NoError(t, err)
	assert.Len(t, pending(res, events.ReasonWaiting), 1)
	assert.Empty(t, res.Changes)

	free := a.at(held)
	free.SetFinalizers(nil)
	require.NoError(t, a.live.Update(a.ctx, free))
	_, _, err = a.want(prunesNothing)
	require.NoError(t, err)
	assert.Nil(t, a.at(a.owner), "it is gone")
}

func TestElsewhereIsCleanedUpThoughTheRecordIsLost(t *testing.T) {
	a := newAway(t)
	c := a.configMap("c")
	_, _, err := a.want(prunesNothing, c)
	require.NoError(t, err)
	a.edit(a.owner, func(o client.Object) { o.SetAnnotations(nil) })
	require.NoError(t, a.live.Delete(a.ctx, a.owner))
	_, _, err = a.want(prunesNothing, c)
	require.NoError(t, err)
	assert.Nil(t, a.at(c))
	assert.Nil(t, a.at(a.owner))
}

func TestNamespaceElsewhereIsGone(t *testing.T) {
	a := newAway(t)
	c := a.configMap("c")
	_, _, err := a.want(prunesNothing, c)
	require.NoError(t, err)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: a.there}}
	require.NoError(t, a.live.Delete(a.ctx, ns))
	a.eventually(func() bool { return a.at(ns) == nil }, "the namespace to be gone")
	require.NoError(t, a.live.Delete(a.ctx, a.owner))
	_, _, err = a.want(prunesNothing)
	require.NoError(t, err)
	assert.Nil(t, a.at(a.owner))
}

func TestElsewhereCrashes(t *testing.T) {
	a := newAway(t)
	a.crashEverywhere(func(e *builder.Engine) error {
		if a.at(a.configMap("c")) != nil {
			assert.Contains(t, a.at(a.owner).GetFinalizers(), wellknown.Finalizer, "it is there before the first child")
		}
		_, err := e.For(a.owner).Object(a.configMap("c"), builder.CrossNamespace()).Object(a.role(), builder.CrossNamespace()).Reconcile(a.ctx)
		return err
	})
	require.NoError(t, a.live.Delete(a.ctx, a.owner))
	require.True(t, a.read())
	crashes := a.crashEverywhereUntilGone()
	assert.Equal(t, 3, crashes, "two deletions and the finalizer")
	assert.Nil(t, a.at(a.configMap("c")))
	assert.Nil(t, a.at(a.role()))
}

// crashEverywhereUntilGone cleans up in processes that die after one write each.
func (a *away) crashEverywhereUntilGone() (crashes int) {
	for a.read() {
		require.Less(a.t, crashes, 20)
		engine := buildertest.NewEngine(&crashing{a.cached, 1}, builder.Options{Name: "tester", Reader: a.live}, buildertest.EngineOptions{Parallelism: 1})
		if _, err := engine.For(a.owner).Reconcile(a.ctx); err != nil {
			require.ErrorIs(a.t, err, errCrash)
		}
		crashes++
	}
	return crashes
}

func TestOperatorWithChildrenElsewhere(t *testing.T) {
	there := testcluster.Namespace(t)
	elsewhere := func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		after := owner.DeepCopy()
		after.Status.Seen = nil
		for _, c := range builder.Owned[*corev1.ConfigMap](seen) {
			after.Status.Seen = append(after.Status.Seen, c.Namespace+"/"+c.Name)
		}
		p := builder.Plan[*Widget]{Status: after, PruneAll: true}
		for _, name := range owner.Spec.Children {
			c := configMap(name, "k", "1")
			c.Namespace = there
			p.Children = append(p.Children, builder.Want(c, builder.CrossNamespace()))
		}
		return p
	}
	o := operate(t, elsewhere, &Widget{Spec: WidgetSpec{Children: []string{"a", "b"}}}, &corev1.ConfigMap{})
	a := &away{world: o.world, there: there}
	seen := func(names ...string) func() bool {
		return func() bool { return slices.Equal(o.get(o.widget).(*Widget).Status.Seen, names) }
	}
	o.eventually(seen(there+"/a", there+"/b"), "the view to have them")
	o.settled()

	require.NoError(t, o.live.Delete(o.ctx, a.configMap("a")))
	o.eventually(func() bool { return a.at(a.configMap("a")) != nil }, "the watch to bring it back")
	o.change(func(w *Widget) { w.Spec.Children = []string{"b"} })
	o.eventually(func() bool { return a.at(a.configMap("a")) == nil }, "prune")
	o.eventually(seen(there+"/b"), "the view without it")
	o.settled()

	held := a.at(a.configMap("b"))
	held.SetFinalizers([]string{"example.com/hold"})
	require.NoError(t, o.live.Update(o.ctx, held))
	require.NoError(t, o.live.Delete(o.ctx, o.widget))
	o.eventually(func() bool { return a.at(held).GetDeletionTimestamp() != nil }, "the child to be deleted")
	assert.NotNil(t, a.at(o.widget))
	held = a.at(held)
	held.SetFinalizers(nil)
	require.NoError(t, o.live.Update(o.ctx, held))
	o.eventually(func() bool { return a.at(o.widget) == nil }, "the owner to be let go")
	assert.Nil(t, a.at(held))
}

// A label with the owner's UID, and all else that a child elsewhere carries, is worth nothing if someone else has set it.
func TestWhatOthersLabelIsNeitherTakenNorDeleted(t *testing.T) {
	for _, indexed := range [][]client.Object{nil, {&corev1.ConfigMap{}}} {
		a := newAway(t, indexed...)
		_, _, err := a.want(prunesAll, a.configMap("c", "k", "1"))
		require.NoError(t, err)
		victim := a.configMap("victim", "k", "theirs")
		require.NoError(t, a.live.Create(a.ctx, victim))
		mine := a.at(a.configMap("c"))
		victim.Labels, victim.Annotations = mine.GetLabels(), mine.GetAnnotations()
		require.NoError(t, a.live.Update(a.ctx, victim, client.FieldOwner("kubectl-label")))
		a.eventually(func() bool {
			found := &corev1.ConfigMap{}
			err := a.cached.Get(a.ctx, client.ObjectKeyFromObject(victim), found)
			return err == nil && found.ResourceVersion == victim.ResourceVersion
		}, "the cache to show the victim")

		_, sent, err := a.want(prunesAll, a.configMap("c", "k", "1"))
		require.NoError(t, err)
		assert.Empty(t, sent, "it isn't pruned")
		_, _, err = a.want(prunesNothing, a.configMap("c", "k", "1"), a.configMap("victim", "k", "1"))
		require.ErrorIs(t, err, builder.ErrNotOwned)
		assert.ErrorContains(t, err, `field manager "kubectl-label"`)
		require.NoError(t, a.live.Delete(a.ctx, a.owner))
		a.eventually(func() bool {
			if !a.read() {
				return true
			}
			_, _, err := a.want(prunesNothing)
			require.NoError(t, err)
			return false
		}, "the owner is gone")
		assert.Nil(t, a.at(a.configMap("c")))
		require.NotNil(t, a.at(victim))
		assert.Equal(t, "theirs", a.at(victim).(*corev1.ConfigMap).Data["k"])
	}
}
