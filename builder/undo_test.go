package builder_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// keeping is a program that keeps former states, with a ConfigMap of its image beside the Deployment.
func keeping(image string) program {
	return program{build: image, image: image, keeps: true, more: func(_ *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		plan.Children = append(plan.Children, builder.Want(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: "config"}, Data: map[string]string{"image": image},
		}))
	}}
}

// installs starts a program and lets it bring the owners to readiness.
func (f *fleet) installs(p program) {
	f.Helper()
	f.starts(p)
	for range 4 {
		f.round()
		f.becomesReady(f.owners...)
	}
}

// condition returns a condition of an owner, as "status reason: message"; empty for none.
func (f *fleet) condition(owner, name string) string {
	f.Helper()
	c := meta.FindStatusCondition(f.flow(owner).Status.Conditions, name)
	if c == nil {
		return ""
	}
	return string(c.Status) + " " + c.Reason + ": " + c.Message
}

// kept returns the names of the ControllerRevisions.
func (f *fleet) kept() []string {
	f.Helper()
	var list appsv1.ControllerRevisionList
	require.NoError(f, f.world.List(f.Context(), &list))
	var names []string
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names
}

// undoes asks for the undo as the command does.
func (f *fleet) undoes(owner string) (to string) {
	f.Helper()
	flow := f.flow(owner)
	to = meta.FindStatusCondition(flow.Status.Conditions, events.ConditionUndoable).Message
	metav1.SetMetaDataAnnotation(&flow.ObjectMeta, wellknown.AnnotationPaused, "true")
	metav1.SetMetaDataAnnotation(&flow.ObjectMeta, wellknown.AnnotationUndo, to)
	require.NoError(f, f.world.Update(f.Context(), flow))
	return to
}

// resumes lets the operator continue.
func (f *fleet) resumes(owner string) {
	f.Helper()
	flow := f.flow(owner)
	delete(flow.Annotations, wellknown.AnnotationPaused)
	delete(flow.Annotations, wellknown.AnnotationUndo)
	require.NoError(f, f.world.Update(f.Context(), flow))
}

func (f *fleet) config() string {
	f.Helper()
	var config corev1.ConfigMap
	require.NoError(f, f.world.Get(f.Context(), client.ObjectKey{Namespace: "default", Name: "config"}, &config))
	return config.Data["image"]
}

// An undo returns to the state before the last disruptive change, once. The owner is paused, so nothing is put back before it is
// unpaused. What keeps the state is written before the children change, and replaced by the next one.
func TestUndo(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(keeping("web:1"))
	assert.Empty(t, f.condition("a", events.ConditionUndoable), "nothing was disrupted")

	f.server.Ledger().Reset()
	f.installs(keeping("web:2"))
	first := f.kept()
	require.Len(t, first, 1)
	assert.Equal(t, "True StateKept: "+first[0], f.condition("a", events.ConditionUndoable))
	assert.Equal(t, []string{
		"create ControllerRevision.apps default/" + first[0], "patch JobFlow.api.practice.com/status default/a",
	}, f.writes()[:2])

	f.server.Ledger().Reset()
	f.installs(keeping("web:3"))
	second := f.kept()
	require.Len(t, second, 1)
	assert.NotEqual(t, first, second)
	assert.Equal(t, "web:3", f.images())

	f.undoes("a")
	f.round()
	assert.Equal(t, "web:2", f.images())
	assert.Equal(t, "web:2", f.config(), "it changed with the Deployment")
	assert.Equal(t, "True Undone: "+second[0], f.condition("a", events.ConditionUndone))
	f.server.Ledger().Reset()
	f.round()
	f.starts(keeping("web:4"))
	f.round()
	assert.Empty(t, f.writes(), "the owner is paused, for another build, too")

	flow := f.flow("a")
	flow.Annotations = map[string]string{"armature.dev/undo": second[0]}
	require.NoError(t, f.world.Update(t.Context(), flow))
	f.round()
	assert.Equal(t, "web:2", f.images(), "each of the annotations pauses")

	flow = f.flow("a")
	flow.Annotations = nil
	require.NoError(t, f.world.Update(t.Context(), flow))
	for range 3 {
		f.round()
	}
	assert.Equal(t, "web:4", f.images())
	assert.Empty(t, f.condition("a", events.ConditionUndone))
	assert.Empty(t, f.condition("a", events.ConditionPaused))
}

// An undo restores children that the operator reads by name, too.
func TestUndoOfChildrenReadByName(t *testing.T) {
	one, two := keeping("web:1"), keeping("web:2")
	one.byName, two.byName = true, true
	f := newFleet(t, "a")
	f.installs(one)
	f.installs(two)
	require.Equal(t, "web:2", f.config())
	f.undoes("a")
	f.round()
	assert.Equal(t, "web:1", f.config())
	assert.Equal(t, "web:1", f.images())
}

// A change that disrupts nothing keeps no state.
func TestHarmlessChangesKeepNothing(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(keeping("web:1"))
	more := keeping("web:1")
	more.replicas = 3
	f.installs(more) // the entry of the creation has defaults, so that this one isn't known to be harmless
	before := f.kept()
	more.replicas = 4
	f.installs(more)
	assert.Equal(t, before, f.kept(), "more replicas")
	drift := f.deployment("a")
	drift.Spec.Template.Spec.Containers[0].Image = "other"
	require.NoError(t, f.world.Update(t.Context(), drift))
	f.round()
	assert.Equal(t, "web:1", f.images())
	assert.Equal(t, before, f.kept(), "drift")
	more.replicas, more.build = 2, "another"
	f.installs(more)
	assert.NotEqual(t, before, f.kept(), "fewer replicas")
	f.undoes("a")
	f.round()
	assert.Equal(t, int32(4), *f.deployment("a").Spec.Replicas)
}

// Fewer replicas disrupt whatever has them, as a preview says. A build that sets no number leaves the default of 1.
func TestFewerReplicasOfAnyKindAreUndone(t *testing.T) {
	of := func(build string, replicas *int32) program {
		controller := func(_ *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
			plan.Children = append(plan.Children, builder.Want(&corev1.ReplicationController{
				ObjectMeta: metav1.ObjectMeta{Name: "legacy"}, Spec: corev1.ReplicationControllerSpec{Replicas: replicas},
			}))
		}
		return program{build: build, image: "web:1", keeps: true, more: controller}
	}
	for name, fewer := range map[string]*int32{"one": new(int32(1)), "unset": nil} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t, "a")
			f.installs(of("three", new(int32(3))))
			f.installs(of(name, fewer))
			require.NotEmpty(t, f.kept())
			f.undoes("a")
			f.round()
			var restored corev1.ReplicationController
			require.NoError(t, f.world.Get(t.Context(), key("legacy"), &restored))
			assert.Equal(t, int32(3), *restored.Spec.Replicas)
		})
	}
}

func (f *fleet) deployment(name string) *appsv1.Deployment {
	f.Helper()
	var d appsv1.Deployment
	require.NoError(f, f.world.Get(f.Context(), key(name), &d))
	return &d
}

// Of a field that another writer has changed while no manager ran, an undo restores that value; fields of others stay as they are.
func TestUndoRestoresWhatOthersHadSet(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(keeping("web:1"))
	edited := f.deployment("a")
	edited.Spec.Template.Spec.Containers[0].Image = "web:hotfix"
	edited.Spec.Template.Spec.Containers[0].WorkingDir = "/their/own"
	edited.Annotations["their"] = "annotation"
	require.NoError(t, f.world.Update(t.Context(), edited))
	f.installs(keeping("web:2"))
	assert.Equal(t, "web:2", f.images())
	f.undoes("a")
	f.round()
	d := f.deployment("a")
	assert.Equal(t, "web:hotfix", f.images())
	assert.Equal(t, "/their/own", d.Spec.Template.Spec.Containers[0].WorkingDir)
	assert.Equal(t, "annotation", d.Annotations["their"])
}

// What a new build deletes comes back, except Jobs, which would run again. Values of Secrets are never kept.
func TestUndoOfDeletions(t *testing.T) {
	f := newFleet(t, "a")
	former := keeping("web:1")
	former.more = func(_ *v1alpha1.JobFlow, plan *builder.Plan[*v1alpha1.JobFlow]) {
		plan.Children = append(plan.Children,
			builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gone"}, Data: map[string]string{"k": "v"}}),
			builder.Want(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "gone"}, StringData: map[string]string{"k": "hunter2"}}),
			builder.Want(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "gone"}, Spec: batchv1.JobSpec{
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
				}},
			}}))
	}
	f.installs(former)
	f.installs(program{build: "2", image: "web:2", keeps: true})
	var config corev1.ConfigMap
	gone := client.ObjectKey{Namespace: "default", Name: "gone"}
	require.Error(t, f.world.Get(t.Context(), gone, &config))
	require.Len(t, f.kept(), 1, "one state, with what each pass has changed")
	var kept appsv1.ControllerRevision
	require.NoError(t, f.world.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: f.kept()[0]}, &kept))
	assert.NotContains(t, string(kept.Data.Raw), "hunter2")
	assert.NotContains(t, string(kept.Data.Raw), "aHVudGVyMg")
	f.undoes("a")
	f.round()
	require.NoError(t, f.world.Get(t.Context(), gone, &config))
	assert.Equal(t, "v", config.Data["k"])
	assert.Error(t, f.world.Get(t.Context(), gone, &batchv1.Job{}))
	assert.Error(t, f.world.Get(t.Context(), gone, &corev1.Secret{}))
	assert.Equal(t, "web:1", f.images())
	assert.Equal(t, "True Undone: "+f.kept()[0], f.condition("a", events.ConditionUndone))

	f.resumes("a")
	f.round()
	f.round()
	assert.Error(t, f.world.Get(t.Context(), gone, &config), "the plan still doesn't desire it")
	assert.Equal(t, "web:2", f.images())
}

// A change that is reverted after its state was kept, and before it was made, leaves nothing behind.
func TestKeptStatesAreBounded(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(keeping("web:1"))
	f.installs(keeping("web:2"))
	for _, image := range []string{"web:3", "web:4", "web:5"} {
		f.starts(keeping(image))
		f.round() // keeps the state, and changes nothing
		assert.Equal(t, "web:2", f.images())
		f.installs(keeping("web:2"))
	}
	f.installs(keeping("web:6"))
	assert.Len(t, f.kept(), 1)
	f.undoes("a")
	f.round()
	assert.Equal(t, "web:2", f.images())
}

// An undo restores only the state that the owner's status names and whose data are unchanged.
func TestUndoRefuses(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(keeping("web:1"))
	f.installs(keeping("web:2"))
	name := f.undoes("a")
	var kept appsv1.ControllerRevision
	at := client.ObjectKey{Namespace: "default", Name: name}
	require.NoError(t, f.world.Get(t.Context(), at, &kept))
	require.NoError(t, f.world.Delete(t.Context(), kept.DeepCopy()))
	f.round()
	assert.Equal(t, "False UndoFailed: ControllerRevision "+name+", which had the former state, is gone",
		f.condition("a", events.ConditionUndone))

	var data map[string]any
	require.NoError(t, json.Unmarshal([]byte(strings.ReplaceAll(string(kept.Data.Raw), "web:1", "evil:1")), &data))
	forged := kept.DeepCopy()
	forged.ResourceVersion, forged.UID = "", ""
	forged.Data.Raw, _ = json.Marshal(data)
	require.NoError(t, f.world.Create(t.Context(), forged))
	f.round()
	assert.Contains(t, f.condition("a", events.ConditionUndone), "the data of ControllerRevision "+name+" don't fit the hash in its name")
	assert.Equal(t, "web:2", f.images())

	other := kept.DeepCopy()
	other.ResourceVersion, other.UID, other.Name = "", "", "other"
	require.NoError(t, f.world.Create(t.Context(), other))
	flow := f.flow("a")
	flow.Annotations["armature.dev/undo"] = "other"
	require.NoError(t, f.world.Update(t.Context(), flow))
	f.round()
	assert.Contains(t, f.condition("a", events.ConditionUndone),
		`annotation armature.dev/undo is "other"; the state that is kept, in the condition Undoable, is "`+name+`"`)
	assert.Equal(t, "web:2", f.images())
}

// An operator that keeps nothing says so.
func TestUndoOfAnOperatorWithoutIt(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(program{build: "1", image: "web:1"})
	flow := f.flow("a")
	flow.Annotations = map[string]string{"armature.dev/undo": "x"}
	require.NoError(t, f.world.Update(t.Context(), flow))
	f.round()
	assert.Contains(t, f.condition("a", events.ConditionUndone), "False UndoFailed: this operator keeps no former state")
}

// A pass that finds nothing to do makes no request, with kept states, too.
func TestKeptStatesCostNothingUnchanged(t *testing.T) {
	f := newFleet(t, "a")
	f.installs(keeping("web:1"))
	f.installs(keeping("web:2"))
	f.server.Ledger().Reset()
	f.round()
	for _, call := range f.server.Ledger().Calls() {
		assert.NotContains(t, call.String(), "get ControllerRevision.apps")
	}
	assert.Empty(t, f.writes())
}

// Wherever the process crashes, while it keeps the state, changes the children, or undoes that, the end is the same.
func TestUndoSurvivesCrashes(t *testing.T) {
	install := func(image string) buildertest.Edit {
		return buildertest.Change(installed, func(cm *corev1.ConfigMap) { cm.Data["image"] = image })
	}
	undoes := buildertest.Change(newFlow("a"), func(flow *v1alpha1.JobFlow) {
		to := meta.FindStatusCondition(flow.Status.Conditions, events.ConditionUndoable)
		flow.Annotations = map[string]string{"armature.dev/paused": "true", "armature.dev/undo": to.Message}
	})
	scenario := buildertest.Scenario{
		Scheme:     flowScheme,
		Options:    []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
		Objects:    []client.Object{newFlow("a"), installed.DeepCopy(), world.Node("n1")},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) { return &undoable{c: c}, nil },
		Requests:   []reconcile.Request{{NamespacedName: key("a")}},
		Cluster:    world.Cluster(world.Options{}),
		Then: []buildertest.Edit{
			install("web:2"), undoes, install("web:3"),
			buildertest.Change(newFlow("a"), func(flow *v1alpha1.JobFlow) { flow.Annotations = nil }),
			undoes,
		},
		Normalize: func(obj *unstructured.Unstructured) bool { return obj.GetKind() != "ControllerRevision" },
	}
	if testing.Short() {
		t.Skip("it runs the scenario once for each write")
	}
	buildertest.CrashEverywhere(t, scenario)
	server := buildertest.Settle(t, scenario)
	var d appsv1.Deployment
	require.NoError(t, server.Client("world").Get(t.Context(), key("a"), &d))
	assert.Equal(t, "web:1", d.Spec.Template.Spec.Containers[0].Image, "web:3 came after the first undo")
}

// undoable is a process that is replaced when another program is installed.
type undoable struct {
	c     *buildertest.Client
	image string
	reconcile.Reconciler
}

func (u *undoable) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	var program corev1.ConfigMap
	if err := u.c.Live().Get(ctx, client.ObjectKeyFromObject(installed), &program); err != nil {
		return reconcile.Result{}, err
	}
	if image := program.Data["image"]; image != u.image {
		var err error
		if u.Reconciler, err = operatorOf(keeping(image), u.c, u.c.Now); err != nil {
			return reconcile.Result{}, err
		}
		u.image = image
	}
	return u.Reconciler.Reconcile(ctx, req)
}
