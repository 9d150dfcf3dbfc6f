package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// once plans a Job that is created once.
func once(job *batchv1.Job, opts ...builder.ChildOption) ownerFunc {
	return func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{
			Children: []builder.Child{builder.Want(job, append(opts, builder.CreateOnly())...)},
			Prune:    []client.Object{&batchv1.Job{}},
		}
	}
}

func TestCreateOnly(t *testing.T) {
	job := newJob("job")
	job.Labels = map[string]string{"mine": "yes"}
	before := job.DeepCopy()
	s := perform(t, once(job), nil)
	assert.Equal(t, []string{"create Job.batch default/job"}, s.passes())
	assert.Equal(t, before, job, "what was given stays as it is")

	made := get(s, newJob("job"))
	assert.True(t, metav1.IsControlledBy(made, newOwner()))
	assert.True(t, *made.OwnerReferences[0].BlockOwnerDeletion)
	assert.Equal(t, wellknown.ManagedBy, made.Labels[wellknown.LabelManagedBy])
	assert.Equal(t, "yes", made.Labels["mine"])
	assert.Empty(t, made.Annotations, "no digest")

	job.Spec.Parallelism, job.Labels["mine"] = ptr.To[int32](7), "no"
	made.Labels["mine"], made.Spec.Suspend = "theirs", new(true)
	require.NoError(t, s.others.Update(t.Context(), made))
	assert.Empty(t, s.passes(), "whatever is wanted of it, whoever changed it, and it isn't pruned")
}

func TestCreateOnlyIsWaitedForWhileItGoes(t *testing.T) {
	job := controlled(newJob("job"), ownerUID)
	job.Finalizers = []string{"example.com/stay"}
	s := perform(t, once(newJob("job")), nil, job)
	require.NoError(t, s.others.Delete(t.Context(), newJob("job"), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	writes, after, err := s.pass()
	require.NoError(t, err)
	assert.Empty(t, writes)
	assert.Positive(t, after)

	going := get(s, newJob("job"))
	going.Finalizers = nil
	require.NoError(t, s.others.Update(t.Context(), going))
	assert.Equal(t, []string{"create Job.batch default/job"}, s.passes())
}

func labelled(job *batchv1.Job) *batchv1.Job {
	job.Labels = map[string]string{wellknown.LabelManagedBy: wellknown.ManagedBy}
	return job
}

func TestCreateOnlyMeetsAnother(t *testing.T) {
	theirOwner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "c"}}
	mentioned := newJob("job")
	mentioned.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "c", UID: "c"}}
	mentioned.Labels = map[string]string{"theirs": "yes"}
	mentioned.Spec.Parallelism = ptr.To[int32](3)
	adopt := builder.Adopt(builder.AdoptOptions{})
	for name, c := range map[string]struct {
		found   *batchv1.Job
		opts    []builder.ChildOption
		writes  []string
		refused bool
	}{
		"ours":                     {found: labelled(controlled(newJob("job"), ownerUID))},
		"ours, without the label":  {found: controlled(newJob("job"), ownerUID), writes: []string{"patch Job.batch default/job"}},
		"orphan":                   {found: newJob("job"), refused: true},
		"orphan to be adopted":     {found: mentioned, opts: []builder.ChildOption{adopt}, writes: []string{"patch Job.batch default/job"}},
		"another's":                {found: controlled(newJob("job"), "other"), refused: true},
		"another's, though orphan": {found: controlled(newJob("job"), "other"), opts: []builder.ChildOption{adopt}, refused: true},
	} {
		for _, hidden := range []bool{false, true} { // from the cache
			t.Run(name+map[bool]string{true: " (hidden)"}[hidden], func(t *testing.T) {
				s := perform(t, once(newJob("job"), c.opts...), nil, theirOwner.DeepCopy(), newOtherOwner("other"))
				if hidden {
					s.ours.Freeze()
				}
				other := c.found.DeepCopy()
				require.NoError(t, s.others.Create(t.Context(), other))
				writes, _, err := s.pass()
				writes = writesThatChanged(writes)
				if c.refused {
					require.ErrorIs(t, err, builder.ErrNotOwned)
				} else {
					require.NoError(t, err)
				}
				assert.Equal(t, c.writes, writes)
				after := get(s, newJob("job"))
				if len(c.writes) == 0 {
					assert.Equal(t, other.ResourceVersion, after.ResourceVersion)
					return
				}
				assert.True(t, metav1.IsControlledBy(after, newOwner()))
				assert.Len(t, after.OwnerReferences, len(c.opts)+1, "an adopted one keeps the other that it has")
				assert.Equal(t, wellknown.ManagedBy, after.Labels[wellknown.LabelManagedBy], "or it might stay hidden for ever")
				after.Labels = other.Labels
				after.OwnerReferences, after.ResourceVersion, after.ManagedFields = other.OwnerReferences, other.ResourceVersion, other.ManagedFields
				assert.Equal(t, other, after, "nothing else has changed")
				s.ours.Refresh()
				assert.Empty(t, s.passes())
			})
		}
	}
}

// writesThatChanged leaves out creates that were refused since there is an object of that name.
func writesThatChanged(writes []string) (changed []string) {
	for _, w := range writes {
		if !strings.Contains(w, "already exists") {
			changed = append(changed, w)
		}
	}
	return changed
}

func TestCreateOnlyDoesNotAdoptWhatHasChanged(t *testing.T) {
	s := perform(t, once(newJob("job"), builder.Adopt(builder.AdoptOptions{})), nil, newJob("job"))
	s.ours.Freeze()
	job := get(s, newJob("job"))
	job.Labels = map[string]string{"a": "b"}
	require.NoError(t, s.others.Update(t.Context(), job))
	writes, after, err := s.pass()
	require.NoError(t, err)
	assert.Len(t, writes, 1, "refused with a conflict")
	assert.Positive(t, after, "and tried again")
	assert.Nil(t, metav1.GetControllerOf(get(s, newJob("job"))))
}

func TestCreateOnlyMisused(t *testing.T) {
	for name, opt := range map[string]builder.ChildOption{
		"Ignore": builder.Ignore("spec.suspend"), "HashFrom": builder.HashFrom("x"), "KeepImmutable": builder.KeepImmutable(),
		"InPhase": builder.InPhase("a"), "a former manager": builder.Adopt(builder.AdoptOptions{FormerManagers: []string{"old"}}),
	} {
		t.Run(name, func(t *testing.T) {
			s := perform(t, func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
				p := once(newJob("job"), opt)(owner, seen)
				if name == "InPhase" {
					p.Rollout.Phases = []string{"a"}
				}
				return p
			}, func(o *operator) { o.Owns(&batchv1.Job{}).Owns(&appsv1.ControllerRevision{}) })
			writes, _, err := s.pass()
			require.ErrorIs(t, err, builder.ErrMisuse)
			require.ErrorContains(t, err, "Job.batch default/job has "+name)
			assert.Empty(t, writes)
		})
	}
}

func TestCreateOnlyInADiff(t *testing.T) {
	s := perform(t, once(newJob("unused")), nil, labelled(newJob("orphan")), labelled(controlled(newJob("there"), ownerUID)))
	want := func(name string, opts ...builder.ChildOption) *builder.Builder {
		return builder.NewEngine(s.ours, builder.Options{}).For(newOwner()).Object(newJob(name), append(opts, builder.CreateOnly())...)
	}
	diff, err := want("new").Diff(t.Context())
	require.NoError(t, err)
	require.Len(t, diff.Changes, 1)
	assert.Equal(t, events.ReasonCreated, diff.Changes[0].Reason)
	assert.NotEmpty(t, diff.Changes[0].Fields)

	diff, err = want("orphan", builder.Adopt(builder.AdoptOptions{})).Diff(t.Context())
	require.NoError(t, err)
	require.Len(t, diff.Changes, 1)
	for _, f := range diff.Changes[0].Fields {
		assert.Contains(t, f.Path, "metadata.ownerReferences")
	}

	diff, err = want("there").Diff(t.Context())
	require.NoError(t, err)
	assert.Empty(t, diff.Changes)
	assert.Equal(t, 1, diff.Unchanged)
	assert.Len(t, s.server.Objects(), 3, "nothing was done")
}

// An adoption changes nothing else in the object, so a diff shows no other change, even of fields that kubectl has applied.
func TestDiffOfAnAdoptedCreateOnlyChild(t *testing.T) {
	applied := &corev1.ConfigMap{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"},
		Data: map[string]string{"a": "b"},
	}
	s := perform(t, once(newJob("unused")), nil)
	require.NoError(t, s.others.Create(t.Context(), applied, client.FieldOwner("kubectl-client-side-apply")))
	s.ours.Refresh()
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
	diff, err := builder.NewEngine(s.ours, builder.Options{}).For(newOwner()).
		Object(want, builder.CreateOnly(), builder.Adopt(builder.AdoptOptions{})).Diff(t.Context())
	require.NoError(t, err)
	require.Len(t, diff.Changes, 1)
	assert.NotEmpty(t, diff.Changes[0].Fields)
	for _, f := range diff.Changes[0].Fields {
		assert.Contains(t, f.Path, "metadata.", "data stays")
	}
}

func TestCreateOnlyIsReady(t *testing.T) {
	s := perform(t, once(newJob("unused")), nil, newNode("n1"))
	reconcile := func() builder.Result {
		s.ours.Refresh()
		res, err := builder.NewEngine(s.ours, builder.Options{}).For(newOwner()).
			Object(newJob("job"), builder.CreateOnly()).Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	assert.Len(t, builder.NotReady(reconcile()), 1)
	s.settle(jobsSucceed)
	assert.Empty(t, builder.NotReady(reconcile()))
}

func TestCreateOnlyCrossNamespace(t *testing.T) {
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "settings"}}
	s := perform(t, func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{Children: []builder.Child{builder.Want(settings, builder.CrossNamespace(), builder.CreateOnly())}}
	}, func(o *operator) {
		o.Owns(&corev1.ConfigMap{}, builder.CrossNamespace())
	}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
	assert.Equal(t, []string{"patch Deployment.apps default/owner", "create ConfigMap other/settings"}, s.passes())
	assert.Empty(t, s.passes())
	assert.Equal(t, string(ownerUID), get(s, settings.DeepCopy()).Labels[wellknown.LabelOwnerUID])
}

func TestCrashEverywhereWithCreateOnly(t *testing.T) {
	for _, lag := range []int{0, 2} {
		s := scenario(func(*appsv1.Deployment, builder.View) ownerPlan {
			p := ownerPlan{Prune: []client.Object{&batchv1.Job{}}, RequeueAfter: time.Minute}
			for _, name := range []string{"a", "b", "c", "d"} {
				p.Children = append(p.Children, builder.Want(newJob(name), builder.CreateOnly(), builder.Adopt(builder.AdoptOptions{})))
			}
			return p
		}, nil, newJob("c"), controlled(newJob("d"), ownerUID), controlled(newJob("stale"), ownerUID), newNode("n1"))
		s.Cluster, s.Lag = jobsSucceed, lag
		s.Foreign = func(client.Object) bool { return false } // c is adopted
		buildertest.CrashEverywhere(t, s)
	}
}
