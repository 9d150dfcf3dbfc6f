package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	s.reconciler, err = buildertest.NewReconciler(describedBy(twoJobs, nil), s.ours, s.ours.Now)
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
			b.Object(newJob(name))
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

// Create is over one child, so that it doesn't know how many there are.
func TestCreateMakesNothingForAnOwnerThatIsGone(t *testing.T) {
	server := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(newOwner()))
	ours, others := server.Client("ours"), server.Client("others")
	engine := builder.NewEngine(ours, builder.Options{Reader: ours.Live()})
	require.NoError(t, engine.Index(t.Context(), ours, &batchv1.Job{}))
	owner := &appsv1.Deployment{}
	require.NoError(t, ours.Get(t.Context(), ownerRequest().NamespacedName, owner))
	created := func(res builder.Result, err error) int {
		t.Helper()
		require.NoError(t, err)
		return len(res.Changes)
	}
	config := newConfigMap("", "c", "")
	assert.Equal(t, 2, created(engine.For(owner).Object(newJob("a")).Object(newJob("b")).Reconcile(t.Context())))
	assert.Equal(t, 1, created(engine.For(owner).Create(t.Context(), config.DeepCopy())))
	require.NoError(t, others.Delete(t.Context(), newOwner())) // and with it the children
	assert.Zero(t, created(engine.For(owner).Object(newJob("a")).Object(newJob("b")).Reconcile(t.Context())))
	assert.Zero(t, created(engine.For(owner).Create(t.Context(), config.DeepCopy())))
}

// passing is a plan that notes in the status how many replicas there were, and lets the owner go.
func passing(number int32) ownerFunc {
	return func(owner *appsv1.Deployment, _ builder.View) ownerPlan {
		after := *owner
		after.Status.Replicas = number
		return ownerPlan{
			Children: []builder.Child{builder.Want(newJob("job"), builder.CreateOnly())},
			Status:   &after, StatusCanWait: time.Hour, DeleteOwner: true,
		}
	}
}

func TestDeleteOwner(t *testing.T) {
	s := perform(t, passing(3), nil)
	assert.Equal(t, []string{
		"create Job.batch default/job", "patch Deployment.apps/status default/owner", "delete Deployment.apps default/owner",
	}, s.passes(), "last, in the version that the status made")
	assert.Empty(t, s.server.Objects(), "with what it owned")
	assert.Empty(t, s.passes(), "it is gone")
}

func TestDeleteOwnerAfterTheInventoryWasWritten(t *testing.T) {
	s := perform(t, func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{Children: []builder.Child{builder.Want(newJob("job"))}, PruneAll: true, DeleteOwner: true}
	}, nil)
	assert.Len(t, s.passes(), 3)
	assert.Empty(t, s.server.Objects())
}

func TestDeleteOwnerOnlyAsItWasSeen(t *testing.T) {
	s := perform(t, passing(0), nil)
	s.ours.Freeze()
	owner := get(s, newOwner())
	owner.Labels = map[string]string{"keep": "me"}
	require.NoError(t, s.others.Update(t.Context(), owner))
	_, after, err := s.pass()
	require.NoError(t, err)
	assert.Positive(t, after, "a conflict, tried again")
	get(s, newOwner())

	require.NoError(t, s.others.Delete(t.Context(), newOwner()))
	_, after, err = s.pass()
	require.NoError(t, err)
	assert.Zero(t, after, "gone already")
}

func TestDeleteOwnerNotAfterAFailure(t *testing.T) {
	jobs, owners := schema.GroupKind{Group: "batch", Kind: "Job"}, schema.GroupKind{Group: "apps", Kind: "Deployment"}
	for name, fault := range map[string]buildertest.Fault{
		"of a child":    {Verb: buildertest.VerbCreate, Kind: jobs, Times: 1, Error: buildertest.Conflict},
		"of the status": {Verb: buildertest.VerbPatch, Kind: owners, Times: 1, Error: buildertest.Conflict},
	} {
		t.Run(name, func(t *testing.T) {
			s := perform(t, passing(3), nil)
			s.ours.Fail(fault)
			writes, _, err := s.pass()
			require.NoError(t, err)
			assert.NotContains(t, writes, "delete Deployment.apps default/owner")
			get(s, newOwner())
			s.passes()
			assert.Empty(t, s.server.Objects())
		})
	}
}

func TestDeleteOwnerThatIsBeingDeleted(t *testing.T) {
	s := perform(t, passing(0), nil)
	owner := get(s, newOwner())
	owner.Finalizers = []string{"example.com/stay"}
	require.NoError(t, s.others.Update(t.Context(), owner))
	require.NoError(t, s.others.Delete(t.Context(), newOwner()))
	assert.Empty(t, s.passes())
}

func TestCrashEverywhereWithDeleteOwner(t *testing.T) {
	bystander := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bystander"}}
	plan := func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
		p := passing(3)(owner, seen)
		p.DeleteOwner = owner.Status.Replicas == 3 && seen.Now.Sub(owner.CreationTimestamp.Time) >= time.Minute
		p.RequeueAfter = time.Minute
		return p
	}
	for _, lag := range []int{0, 2} {
		s := scenario(plan, nil, bystander, newNode("n1"))
		s.Cluster, s.Lag = jobsSucceed, lag
		buildertest.CrashEverywhere(t, s)
		assert.Len(t, buildertest.Settle(t, s).Objects(), 2, "the bystander and the node")
	}
}

func TestCrashEverywhereWithStatusCanWait(t *testing.T) {
	s := scenario(func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
		after := *owner
		after.Status.Replicas = int32(len(builder.Owned[*corev1.ConfigMap](seen)))
		p := ownerPlan{Status: &after, StatusCanWait: 10 * time.Second}
		for _, name := range []string{"a", "b", "c"}[:min(3, after.Status.Replicas+1)] {
			p.Children = append(p.Children, builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, builder.CreateOnly()))
		}
		return p
	}, func(o *operator) { o.Owns(&corev1.ConfigMap{}) })
	buildertest.CrashEverywhere(t, s)
	server := buildertest.Settle(t, s)
	owner := newOwner()
	require.NoError(t, server.Client().Get(t.Context(), ownerRequest().NamespacedName, owner))
	assert.EqualValues(t, 3, owner.Status.Replicas, "written in the end")
}
