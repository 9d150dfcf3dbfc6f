package builder_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// editing plans the same edit of all Jobs.
func editing(edit func(after *batchv1.Job)) ownerFunc {
	return func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		var p ownerPlan
		for _, job := range builder.Owned[*batchv1.Job](seen) {
			after := job.DeepCopy()
			edit(after)
			p.Edits = append(p.Edits, builder.Edit{Before: job, After: after})
		}
		return p
	}
}

func suspend(job *batchv1.Job) { job.Spec.Suspend = new(true) }

func TestEdit(t *testing.T) {
	job := controlled(newJob("a"), ownerUID)
	job.Labels, job.Annotations = map[string]string{"old": "1", "kept": "1"}, map[string]string{"only": "1"}
	s := perform(t, editing(func(after *batchv1.Job) {
		suspend(after)
		delete(after.Labels, "old")
		after.Labels["new"] = "1"
		after.Annotations = nil
		after.Spec.ActiveDeadlineSeconds = ptr.To[int64](math.MaxInt32)
	}), nil, job, controlled(newJob("b"), ownerUID))
	assert.ElementsMatch(t, []string{"patch Job.batch default/a", "patch Job.batch default/b"}, s.passes())
	after := get(s, newJob("a"))
	assert.True(t, *after.Spec.Suspend)
	assert.Equal(t, map[string]string{"new": "1", "kept": "1"}, after.Labels)
	assert.Empty(t, after.Annotations)
	assert.EqualValues(t, math.MaxInt32, *after.Spec.ActiveDeadlineSeconds)
	assert.Empty(t, s.passes(), "nothing differs any more")
}

func TestEditOfAnObjectThatHasChanged(t *testing.T) {
	s := perform(t, editing(suspend), nil, controlled(newJob("a"), ownerUID))
	s.ours.Freeze()
	job := get(s, newJob("a"))
	job.Labels = map[string]string{"a": "b"}
	require.NoError(t, s.others.Update(t.Context(), job))
	_, after, err := s.pass()
	require.NoError(t, err)
	assert.Positive(t, after, "a conflict is tried again, without noise")
	assert.False(t, *get(s, newJob("a")).Spec.Suspend)
	s.ours.Refresh()
	s.passes()
	assert.True(t, *get(s, newJob("a")).Spec.Suspend)
}

func TestEditOfAnObjectThatIsGone(t *testing.T) {
	s := perform(t, editing(suspend), nil, controlled(newJob("a"), ownerUID), controlled(newJob("b"), ownerUID))
	s.ours.Freeze()
	require.NoError(t, s.others.Delete(t.Context(), newJob("a"), client.PropagationPolicy("Background")))
	_, after, err := s.pass()
	require.NoError(t, err)
	assert.Zero(t, after)
	assert.True(t, *get(s, newJob("b")).Spec.Suspend)

	require.NoError(t, s.others.Create(t.Context(), controlled(newJob("a"), ownerUID)))
	_, after, err = s.pass() // sees the first one still
	require.NoError(t, err)
	assert.Positive(t, after)
	assert.False(t, *get(s, newJob("a")).Spec.Suspend, "another one of that name")
}

func TestEditRefused(t *testing.T) {
	good := controlled(newJob("good"), ownerUID)
	change := func(change func(after *batchv1.Job)) func(job *batchv1.Job) builder.Edit {
		return func(job *batchv1.Job) builder.Edit {
			after := job.DeepCopy()
			change(after)
			return builder.Edit{Before: job, After: after}
		}
	}
	for name, c := range map[string]struct {
		uid  string
		edit func(job *batchv1.Job) builder.Edit
		err  error
	}{
		"not the owner's": {"other", change(suspend), builder.ErrNotOwned},
		"status":          {"", change(func(after *batchv1.Job) { after.Status.Active = 3 }), builder.ErrMisuse},
		"name":            {"", change(func(after *batchv1.Job) { after.Name = "good" }), builder.ErrMisuse},
		"uid":             {"", change(func(after *batchv1.Job) { after.UID = "x" }), builder.ErrMisuse},
		"version":         {"", change(func(after *batchv1.Job) { after.ResourceVersion = "1" }), builder.ErrMisuse},
		"nothing after":   {"", func(job *batchv1.Job) builder.Edit { return builder.Edit{Before: job} }, builder.ErrMisuse},
		"nothing before":  {"", func(job *batchv1.Job) builder.Edit { return builder.Edit{After: job} }, builder.ErrMisuse},
		"nil":             {"", func(*batchv1.Job) builder.Edit { return builder.Edit{Before: (*batchv1.Job)(nil)} }, builder.ErrMisuse},
		"another kind":    {"", func(job *batchv1.Job) builder.Edit { return builder.Edit{Before: job, After: &corev1.Pod{}} }, builder.ErrMisuse},
		"not from the view": {"", func(*batchv1.Job) builder.Edit {
			job := controlled(newJob("bad"), ownerUID)
			return change(suspend)(job)
		}, builder.ErrMisuse},
	} {
		t.Run(name, func(t *testing.T) {
			bad := controlled(newJob("bad"), ownerUID)
			if c.uid != "" {
				bad = controlled(newJob("bad"), "other")
			}
			var found *batchv1.Job
			s := perform(t, func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
				p := editing(suspend)(nil, seen)
				p.Edits = append(p.Edits, c.edit(found))
				p.Delete = []client.Object{builder.Owned[*batchv1.Job](seen)[0]}
				return p
			}, nil, bad, good.DeepCopy())
			found = get(s, newJob("bad"))
			writes, _, err := s.pass()
			require.ErrorIs(t, err, c.err)
			assert.Empty(t, writes, "none is edited or deleted")
		})
	}
}

func TestEditThenDeleteAndPrune(t *testing.T) {
	s := perform(t, func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
		p := editing(suspend)(owner, seen)
		p.Prune = []client.Object{&batchv1.Job{}}
		return p
	}, nil, controlled(newJob("a"), ownerUID))
	assert.Equal(t, []string{"patch Job.batch default/a", "delete Job.batch default/a"}, s.passes())
}

func TestEditComesAfterChildren(t *testing.T) {
	s := perform(t, func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
		p := editing(suspend)(owner, seen)
		p.Children = []builder.Child{builder.Want(&corev1.ConfigMap{})} // has no name
		return p
	}, nil, controlled(newJob("a"), ownerUID))
	writes, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrMisuse)
	assert.Empty(t, writes)
}

func TestCrashEverywhereWithEdits(t *testing.T) {
	for _, lag := range []int{0, 2} {
		s := scenario(func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
			p := editing(func(job *batchv1.Job) { job.Spec.Suspend = new(false) })(owner, seen)
			for _, name := range []string{"a", "b", "c"} {
				job := newJob(name)
				job.Spec.Suspend = new(true)
				p.Children = append(p.Children, builder.Want(job, builder.CreateOnly()))
			}
			return p
		}, nil, newNode("n1"))
		s.Cluster, s.Lag = jobsSucceed, lag
		buildertest.CrashEverywhere(t, s)
	}
}

func TestEditOfAForeignObject(t *testing.T) {
	foreign := false
	plan := func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		before := builder.Watched[*corev1.ConfigMap](seen)[0]
		after := before.DeepCopy()
		after.Data = map[string]string{"a": "b"}
		return ownerPlan{Edits: []builder.Edit{{Before: before, After: after, Foreign: foreign}}}
	}
	s := perform(t, plan, func(o *operator) { o.Watches(&corev1.ConfigMap{}, builder.Referencing(namedByAnnotation)) }, newConfigMap("default", "x", "owner"))
	_, _, err := s.pass()
	require.ErrorIs(t, err, builder.ErrNotOwned)
	foreign = true
	assert.Equal(t, []string{"patch ConfigMap default/x"}, s.passes())
	assert.Empty(t, s.passes())
}

// Edits of objects that aren't children don't depend on children.
func TestForeignEditsBesideAChildThatFails(t *testing.T) {
	plan := func(child string) ownerFunc {
		return func(owner *appsv1.Deployment, seen builder.View) ownerPlan {
			p := editing(suspend)(owner, seen) // of a child
			p.Edits = append(p.Edits, scaling(3)(owner, seen).Edits...)
			p.Children = []builder.Child{builder.Want(newConfigMap("default", child, ""))}
			return p
		}
	}
	describe := func(o *operator) {
		o.Owns(&batchv1.Job{}).Owns(&corev1.ConfigMap{})
		scalesDeployments(o)
	}
	configMaps := corev1.Resource("configmaps")
	for name, c := range map[string]struct {
		child string
		fails error
		want  []string
	}{
		"refused":          {"x", apierrors.NewForbidden(configMaps, "x", errors.New("exceeded quota")), []string{"patch Deployment.apps/scale default/a"}},
		"denied":           {"x", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "x", nil), []string{"patch Deployment.apps/scale default/a"}},
		"a failing server": {"x", apierrors.NewInternalError(errors.New("no quorum")), nil},
		"an invalid plan":  {"", nil, nil},
		"someone else's":   {"theirs", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			theirs := newConfigMap("default", "theirs", "")
			s := perform(t, plan(c.child), describe, controlled(newJob("a"), ownerUID), scaled("a"), theirs)
			s.ours.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Error: func(buildertest.Call) error { return c.fails }})
			writes, _, err := s.pass()
			require.Error(t, err)
			assert.ElementsMatch(t, c.want, slices.DeleteFunc(writes, func(w string) bool { return strings.HasPrefix(w, "create ") }))
			s.ours.Heal()
			if c.child == "x" {
				assert.Contains(t, s.passes(), "patch Job.batch default/a")
			}
		})
	}
}

func newWorkload(name string) *appsv1.Deployment {
	d := newOwner()
	d.Name, d.UID, d.Spec.Replicas = name, "", ptr.To[int32](1)
	return d
}

// scaling plans a number of replicas for all Deployments that say that they are the owner's to scale.
func scaling(replicas int32) ownerFunc {
	return func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		var p ownerPlan
		for _, d := range builder.Watched[*appsv1.Deployment](seen) {
			if *d.Spec.Replicas != replicas {
				p.Edits = append(p.Edits, builder.Edit{Before: d, Replicas: &replicas, Foreign: true})
			}
		}
		return p
	}
}

func scalesDeployments(o *operator) {
	o.Watches(&appsv1.Deployment{}, builder.Referencing(func(obj client.Object) []string { return []string{obj.GetLabels()["scaled-by"]} }))
}

func scaled(name string) *appsv1.Deployment {
	d := newWorkload(name)
	d.Labels = map[string]string{"scaled-by": "owner"}
	return d
}

func TestScale(t *testing.T) {
	s := perform(t, scaling(3), scalesDeployments, scaled("a"), newWorkload("b"))
	assert.Equal(t, []string{"patch Deployment.apps/scale default/a"}, s.passes())
	assert.EqualValues(t, 3, *get(s, newWorkload("a")).Spec.Replicas)
	assert.EqualValues(t, 1, *get(s, newWorkload("b")).Spec.Replicas)
	assert.Empty(t, s.passes())
}

func TestScaleOfWhatHasChangedOrIsGone(t *testing.T) {
	s := perform(t, scaling(3), scalesDeployments, scaled("a"), scaled("b"))
	s.ours.Freeze()
	d := get(s, newWorkload("a"))
	d.Spec.Replicas = ptr.To[int32](2)
	require.NoError(t, s.others.Update(t.Context(), d))
	require.NoError(t, s.others.Delete(t.Context(), newWorkload("b")))
	_, after, err := s.pass()
	require.NoError(t, err, "what is gone needs no scale, and a conflict is tried again without noise")
	assert.Positive(t, after)
	assert.EqualValues(t, 2, *get(s, newWorkload("a")).Spec.Replicas)
	s.ours.Refresh()
	assert.Equal(t, []string{"patch Deployment.apps/scale default/a"}, s.passes())
}

func TestScaleMisused(t *testing.T) {
	plan := func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{Edits: []builder.Edit{{Before: newWorkload("a"), Replicas: ptr.To[int32](1), Foreign: true}}}
	}
	_, _, err := perform(t, plan, nil).pass()
	assert.ErrorIs(t, err, builder.ErrMisuse)

	plan = func(_ *appsv1.Deployment, seen builder.View) ownerPlan {
		config := builder.Watched[*corev1.ConfigMap](seen)[0]
		return ownerPlan{Edits: []builder.Edit{{Before: config, Replicas: ptr.To[int32](1), Foreign: true}}}
	}
	describe := func(o *operator) { o.Watches(&corev1.ConfigMap{}, builder.Referencing(namedByAnnotation)) }
	s := perform(t, plan, describe, newConfigMap("default", "a", "owner"))
	assert.Empty(t, s.passes(), "a kind that has no scale is answered as if the object were gone")
}

func TestANegativeScaleIsTold(t *testing.T) {
	_, _, err := perform(t, scaling(-1), scalesDeployments, scaled("a")).pass()
	var about *builder.Error
	require.ErrorAs(t, err, &about)
	assert.Equal(t, "a", about.Key.Name)
	assert.True(t, builder.IsTerminal(err))
}
