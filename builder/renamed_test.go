package builder_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

func newRole(name string) *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func ownsRoles(o *operator) {
	o.Owns(&corev1.ConfigMap{}, builder.CrossNamespace()).Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace())
}

// performOnRecord is perform with an owner that a client created, so that its managed fields show who has written it.
func performOnRecord(t *testing.T, plan ownerFunc, describe func(*operator)) *stage {
	t.Helper()
	s := perform(t, plan, describe)
	s.deleteOwner()
	again := newOwner()
	again.UID = ""
	require.NoError(t, s.others.Create(t.Context(), again))
	return s
}

// rename goes on with the operator under another name.
func (s *stage) rename(name string, plan ownerFunc, describe func(*operator)) {
	s.t.Helper()
	o := builder.NewOperator[*appsv1.Deployment](nil, name).Plan(plan)
	describe(o)
	var err error
	s.reconciler, err = buildertest.NewReconciler(o, s.ours, s.ours.Now)
	require.NoError(s.t, err)
}

// isLeft reports whether an object exists.
func (s *stage) isLeft(obj client.Object) bool {
	s.t.Helper()
	err := s.others.Get(s.t.Context(), client.ObjectKeyFromObject(obj), obj)
	require.NoError(s.t, client.IgnoreNotFound(err))
	return err == nil
}

func (s *stage) deleteOwner() {
	s.t.Helper()
	require.NoError(s.t, s.others.Delete(s.t.Context(), newOwner()))
}

// formerName names the operator of the stage before its rename.
var formerName = builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"test"}})

// desiring returns a plan that desires ClusterRoles, and prunes others.
func desiring(names *[]string, opts ...builder.ChildOption) ownerFunc {
	return func(*appsv1.Deployment, builder.View) ownerPlan {
		p := ownerPlan{Prune: []client.Object{&rbacv1.ClusterRole{}}}
		for _, name := range *names {
			p.Children = append(p.Children, builder.Want(newRole(name), append(opts, builder.CrossNamespace())...))
		}
		return p
	}
}

func TestARenamedOperatorKeepsAnOwnerWhoseChildrenItCannotProve(t *testing.T) {
	names := []string{"role"}
	s := performOnRecord(t, desiring(&names), ownsRoles)
	s.passes()
	s.rename("new", desiring(&names), ownsRoles)
	s.deleteOwner()
	_, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrNotOwned)
	assert.EqualError(t, err, `delete ClusterRole.rbac.authorization.k8s.io role: exists and is not ours: it names this owner, but field manager `+
		`"test" has set that, not "new". If that is a former name of this operator, give the child `+
		`builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"test"}}), or delete it or its label armature.dev/owner-uid`)
	assert.True(t, s.isLeft(newRole("role")), "it isn't proved to be ours")
	assert.True(t, s.isLeft(newOwner()))

	s.rename("new", desiring(&names, formerName), ownsRoles)
	assert.Equal(t, []string{"delete ClusterRole.rbac.authorization.k8s.io /role", "patch Deployment.apps default/owner"}, s.passes())
	assert.False(t, s.isLeft(newOwner()))
}

func TestARemovedLabelLetsTheOwnerOfARenamedOperatorGo(t *testing.T) {
	names := []string{"role"}
	s := performOnRecord(t, desiring(&names), ownsRoles)
	s.passes()
	s.rename("new", desiring(&names), ownsRoles)
	s.deleteOwner()
	_, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrNotOwned)
	role := get(s, newRole("role"))
	delete(role.Labels, wellknown.LabelOwnerUID)
	require.NoError(t, s.others.Update(t.Context(), role))
	s.passes()
	assert.False(t, s.isLeft(newOwner()))
	assert.True(t, s.isLeft(newRole("role")))
}

// Anyone can copy the labels of a child. Such a copy neither goes with the owner nor keeps it.
func TestACopyOfAChildKeepsNoOwner(t *testing.T) {
	names := []string{"role"}
	s := performOnRecord(t, desiring(&names), ownsRoles)
	s.passes()
	child := get(s, newRole("role"))
	theirs := newRole("copy")
	theirs.Labels, theirs.Annotations = child.Labels, child.Annotations
	require.NoError(t, s.others.Create(t.Context(), theirs, client.FieldOwner("tenant")))
	s.deleteOwner()
	s.ours.ResetEvents()
	s.passes()
	assert.False(t, s.isLeft(newOwner()))
	assert.False(t, s.isLeft(newRole("role")))
	assert.True(t, s.isLeft(newRole("copy")))
	var told []string
	for _, ev := range s.ours.Events() {
		if ev.Reason == events.ReasonNotOwned {
			told = append(told, ev.Note)
		}
	}
	assert.Equal(t, []string{"Left what only looks like a child of this owner: " +
		`ClusterRole.rbac.authorization.k8s.io copy, marked by field manager "tenant"`}, told)
}

func TestARenamedOperatorPrunesWhatItsFormerNameMarked(t *testing.T) {
	for name, desired := range map[string][]string{"others of the kind": {"kept"}, "none of the kind": nil} {
		t.Run(name, func(t *testing.T) {
			names := []string{"kept", "stale"}
			s := performOnRecord(t, desiring(&names), ownsRoles)
			s.passes()
			settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}}
			s.rename("new", func(owner *appsv1.Deployment, view builder.View) ownerPlan {
				p := desiring(&desired, formerName)(owner, view)
				p.Children = append(p.Children, builder.Want(settings.DeepCopy(), builder.CrossNamespace(), formerName))
				return p
			}, ownsRoles)
			s.passes()
			assert.False(t, s.isLeft(newRole("stale")))
			assert.Equal(t, desired != nil, s.isLeft(newRole("kept")))
		})
	}
}

func TestARenamedOperatorKeepsTheRecordOfWhatItCannotProve(t *testing.T) {
	names := []string{"role"}
	s := performOnRecord(t, desiring(&names), ownsRoles)
	s.passes()
	s.rename("new", func(*appsv1.Deployment, builder.View) ownerPlan { return ownerPlan{PruneAll: true} }, ownsRoles)
	_, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrNotOwned)
	assert.Contains(t, get(s, newOwner()).Finalizers, wellknown.Finalizer)
	assert.True(t, s.isLeft(newRole("role")))
}

const renamedHint = `exists and is not ours: it names this owner, but field manager "test" has set that, not "new". If that is a former name of ` +
	`this operator, give the child builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"test"}})`

func TestARenamedOperatorIsToldToAdopt(t *testing.T) {
	names := []string{"role"}
	plan := func(opts ...builder.ChildOption) ownerFunc {
		return func(owner *appsv1.Deployment, view builder.View) ownerPlan {
			p := desiring(&names, opts...)(owner, view)
			p.Children = append(p.Children, builder.Want(newClaim("data"), append(opts, builder.Retain())...))
			return p
		}
	}
	owns := func(o *operator) { ownsClaims(o); ownsRoles(o) }
	s := performOnRecord(t, plan(), owns)
	s.passes()
	s.rename("new", plan(), owns)
	_, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrNotOwned)
	assert.ErrorContains(t, err, "apply ClusterRole.rbac.authorization.k8s.io role: "+renamedHint)
	assert.ErrorContains(t, err, "apply PersistentVolumeClaim default/data: "+renamedHint)
	assert.NotContains(t, err.Error(), "delete")

	s.rename("new", plan(formerName), owns)
	assert.NotEmpty(t, s.passes())
	s.rename("new", plan(), owns)
	assert.Empty(t, s.passes(), "taken over")
}

func TestARenamedOperatorIsToldOfFieldsThatItsFormerNameLeft(t *testing.T) {
	data := map[string]string{"a": "1", "b": "2"}
	plan := func(*appsv1.Deployment, builder.View) ownerPlan {
		config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}, Data: maps.Clone(data)}
		return ownerPlan{Children: []builder.Child{builder.Want(config)}}
	}
	owns := func(o *operator) { o.Owns(&corev1.ConfigMap{}) }
	s := performOnRecord(t, plan, owns)
	s.passes()
	s.rename("new", plan, owns)
	assert.Empty(t, s.passes(), "unchanged")
	told := func() (notes []string) {
		for _, ev := range s.ours.Events() {
			if ev.Reason == events.ReasonFieldsLeft {
				notes = append(notes, ev.Note)
			}
		}
		return notes
	}
	assert.Empty(t, told())
	delete(data, "b")
	s.passes()
	require.Len(t, told(), 1)
	assert.Contains(t, told()[0], `ConfigMap config keeps data.b, which aren't desired: field manager test has set them`)
	assert.Contains(t, told()[0], `builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"test"}})`)

	s.ours.ResetEvents()
	data["a"] = "2"
	assert.NotEmpty(t, s.passes())
	assert.Empty(t, told(), "told once")
}
