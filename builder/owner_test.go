package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// twoJobs wants two Jobs, and says so in the status.
func twoJobs(owner *appsv1.Deployment, _ builder.View) ownerPlan {
	after := owner.DeepCopy()
	after.Status.Replicas = 2
	return ownerPlan{Children: []builder.Child{builder.Want(newJob("a")), builder.Want(newJob("b"))}, Status: after}
}

// behind makes two Jobs, lets the owner's watch fall behind, and deletes the owner, which takes the Jobs with it.
func behind(t *testing.T) *stage {
	t.Helper()
	s := perform(t, twoJobs, nil)
	// As of all objects that were not there before the server, it is known who wrote what.
	known := client.RawPatch(types.ApplyPatchType, []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"owner","labels":{"c":"d"}}}`))
	require.NoError(t, s.others.Patch(t.Context(), newOwner(), known, client.FieldOwner("user")))
	s.passes()
	s.passes()
	require.NoError(t, s.ours.Lag(3, &appsv1.Deployment{}))
	require.NoError(t, s.others.Delete(t.Context(), newOwner()))
	require.NoError(t, s.ours.Get(t.Context(), ownerRequest().NamespacedName, &appsv1.Deployment{}), "the cache shows it")
	return s
}

func TestChildrenOfAnOwnerThatIsGoneAreNotMadeAgain(t *testing.T) {
	s := behind(t)
	writes, after, err := s.pass()
	require.NoError(t, err)
	assert.Empty(t, writes)
	assert.Zero(t, after, "its end is awaited")
}

// The next leader, or the next process, knows nothing of the children from before.
func TestASuccessorDoesNotMakeThemEither(t *testing.T) {
	s := behind(t)
	var err error
	s.reconciler, err = describedBy(twoJobs, nil).Reconciler(s.ours, s.ours.Now)
	require.NoError(t, err)
	assert.Empty(t, s.passes())
}

func TestChildrenOfAnOwnerThatIsGoingAreNotMadeAgain(t *testing.T) {
	s := perform(t, twoJobs, nil)
	s.passes()
	held := newOwner()
	require.NoError(t, s.others.Get(t.Context(), client.ObjectKeyFromObject(held), held))
	held.Finalizers = []string{"example.com/held"}
	require.NoError(t, s.others.Update(t.Context(), held))
	s.passes()
	require.NoError(t, s.ours.Lag(3, &appsv1.Deployment{}))
	require.NoError(t, s.others.Delete(t.Context(), held))
	require.NoError(t, s.others.Delete(t.Context(), newJob("a")))
	assert.Empty(t, s.passes())
}

// One request more for a child that was deleted while its owner stays, and none for anything else.
func TestOnlyWhatHasGoneMakesThePassAskForItsOwner(t *testing.T) {
	wanted := []string{"a", "b"}
	s := perform(t, func(owner *appsv1.Deployment, _ builder.View) ownerPlan {
		after := owner.DeepCopy()
		after.Status.Replicas = int32(len(wanted))
		plan := ownerPlan{Status: after}
		for _, name := range wanted {
			plan.Children = append(plan.Children, builder.Want(newJob(name)))
		}
		return plan
	}, nil)
	asked := func() int {
		t.Helper()
		s.passes()
		return s.ours.Ledger().Count(buildertest.VerbGet, schema.GroupKind{Group: "apps", Kind: "Deployment"}) - 1 // as each pass does
	}
	assert.Zero(t, asked(), "a new owner")
	wanted = append(wanted, "c")
	assert.Zero(t, asked(), "a child more")
	require.NoError(t, s.others.Delete(t.Context(), newJob("a")))
	assert.Equal(t, 1, asked())
	assert.Zero(t, asked())
	require.NoError(t, s.others.Get(t.Context(), client.ObjectKeyFromObject(newJob("a")), &batchv1.Job{}))
}

// With the fluent Builder it is the same, for an Engine that can read past the cache.
func TestBuilderMakesNothingForAnOwnerThatIsGone(t *testing.T) {
	server := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(newOwner()))
	ours, others := server.Client("ours"), server.Client("others")
	engine := builder.NewEngine(ours, builder.Options{Reader: ours.Live()})
	owner := &appsv1.Deployment{}
	require.NoError(t, ours.Get(t.Context(), ownerRequest().NamespacedName, owner))
	names := []string{"a"}
	apply := func() builder.Result {
		t.Helper()
		b := engine.For(owner)
		for _, name := range names {
			b.Job(newJob(name))
		}
		res, err := b.Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	ours.Ledger().Reset()
	assert.Len(t, apply().Changes, 1)
	names = append(names, "b")
	assert.Len(t, apply().Changes, 1)
	assert.Zero(t, ours.Ledger().Count(buildertest.VerbGet, schema.GroupKind{Group: "apps", Kind: "Deployment"}), "nothing has gone")
	require.NoError(t, others.Delete(t.Context(), newJob("a")))
	assert.Len(t, apply().Changes, 1, "the owner is there")
	require.NoError(t, others.Delete(t.Context(), newOwner())) // and with it the Job
	assert.Empty(t, apply().Changes)
}
