package builder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/internal/telemetry"
	"github.com/armature-dev/armature/builder/internal/view"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

var phaseNames = []string{"controller", "broker", "server"}

// town is an owner with a Deployment in each phase, of an image each, on a simulated API server.
type town struct {
	t       *testing.T
	e       *Engine
	now     time.Time
	writes  []string        // "create Deployment broker"
	told    []string        // reasons of events
	budget  int             // writes until the crash; less than 0 for never
	options rollout.Options // but for what follows from the rest
	images  map[string]string
	change  func(*Builder)    // what else is wanted
	record  *string           // the completed revision, if the plan gives it
	flow    *v1alpha1.JobFlow // the owner, if it is one with conditions
}

var errCrash = fmt.Errorf("crashed")

func newTown(t *testing.T) *town {
	w := &town{t: t, now: time.Unix(1_000_000, 0), budget: -1, images: map[string]string{}}
	for _, name := range phaseNames {
		w.images[name] = "v1"
	}
	w.restart(nil)
	return w
}

func (w *town) Eventf(_, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	if strings.HasPrefix(reason, "Roll") {
		w.told = append(w.told, reason)
	}
}

// restart makes a new engine, which remembers nothing.
func (w *town) restart(c client.Client) {
	if c == nil {
		known := runtime.NewScheme()
		require.NoError(w.t, scheme.AddToScheme(known))
		require.NoError(w.t, v1alpha1.AddToScheme(known))
		c = interceptor.NewClient(SimulatedClient(known), w.funcs())
	}
	w.e = newEngine(c, Options{Name: "test", Recorder: w}, func() time.Time { return w.now }, 1)
}

func (w *town) write(verb string, obj client.Object) error {
	if w.budget == 0 {
		return errCrash
	}
	w.budget--
	w.writes = append(w.writes, verb+" "+strings.TrimPrefix(fmt.Sprintf("%T ", obj), "*v1.")+obj.GetName())
	return nil
}

func (w *town) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := w.write("create", obj); err != nil {
				return err
			}
			return c.Create(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if patch.Type() != types.JSONPatchType { // the record of fields comes before an apply
				if err := w.write("patch", obj); err != nil {
					return err
				}
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if err := w.write("delete", obj); err != nil {
				return err
			}
			return c.Delete(ctx, obj, opts...)
		},
	}
}

func (w *town) builder() *Builder {
	options := w.options
	options.Phases = phaseNames
	if w.record != nil {
		completed := *w.record
		options.CompletedRevision = &completed
	}
	b := w.e.For(w.owner()).Rollout(options).Prune(&appsv1.Deployment{})
	for _, name := range slices.Backward(phaseNames) {
		if image, ok := w.images[name]; ok {
			d := deployment(name)
			d.Spec.Template.Spec.Containers[0].Image = image
			b.Deployment(d, InPhase(name))
		}
	}
	if w.change != nil {
		w.change(b)
	}
	return b
}

func (w *town) owner() client.Object {
	if w.flow == nil {
		return owner()
	}
	return w.flow
}

func (w *town) passErr() (Result, error) {
	w.writes = nil
	res, err := w.builder().Reconcile(w.t.Context())
	if w.flow != nil {
		res.SetConditions(w.flow.Conditions(), 1, err, w.now)
	}
	if w.record != nil && res.Rollout != nil {
		*w.record = res.Rollout.From
	}
	return res, err
}

func (w *town) pass() Result {
	w.t.Helper()
	res, err := w.passErr()
	require.NoError(w.t, err)
	return res
}

func (w *town) get(name string) *appsv1.Deployment {
	d := &appsv1.Deployment{}
	require.NoError(w.t, w.e.client.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, d))
	return d
}

// settle does what the Deployment controller does, in the end.
func (w *town) settle(names ...string) {
	for _, name := range names {
		d := w.get(name)
		makeReady(d)
		require.NoError(w.t, w.e.client.Status().Update(w.t.Context(), d))
	}
}

func (w *town) fail(name string) {
	d := w.get(name)
	d.Status.ObservedGeneration = d.Generation
	d.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded", Message: "no progress",
	}}
	require.NoError(w.t, w.e.client.Status().Update(w.t.Context(), d))
}

// running lists the images by phase; "-" is none.
func (w *town) running() string {
	var images []string
	for _, name := range phaseNames {
		d := &appsv1.Deployment{}
		if err := w.e.client.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, d); err != nil {
			images = append(images, "-")
			continue
		}
		images = append(images, d.Spec.Template.Spec.Containers[0].Image)
	}
	return strings.Join(images, " ")
}

func (w *town) want(image string) {
	for name := range w.images {
		w.images[name] = image
	}
}

func (w *town) revisions() []string {
	var list appsv1.ControllerRevisionList
	require.NoError(w.t, w.e.client.List(w.t.Context(), &list))
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	var states []string
	for _, r := range list.Items {
		_, state, _ := strings.Cut(r.Annotations[wellknown.AnnotationRollout], `"state":"`)
		state, _, _ = strings.Cut(state, `"`)
		states = append(states, fmt.Sprint(r.Revision, state))
	}
	return states
}

func (w *town) install() {
	w.pass()
	for name := range w.images {
		w.settle(name)
	}
	require.Equal(w.t, rollout.Completed, w.pass().Rollout.State)
	w.pass()
	require.Empty(w.t, w.writes)
}

func TestFirstInstallIsAllAtOnce(t *testing.T) {
	w := newTown(t)
	res := w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	assert.Equal(t, rollout.Installing, res.Rollout.State)
	assert.Empty(t, res.Rollout.From)
	assert.Len(t, res.notReady(), 3)
	assert.Empty(t, w.revisions(), "it isn't complete")
	w.settle("broker", "server")
	w.want("v2")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.running(), "also if it changes before it is complete")
	w.settle("controller", "server")
	w.fail("broker")
	res = w.pass()
	assert.Nil(t, res.rolloutFailure())
	assert.Equal(t, events.ReasonChildFailed, res.notReady()[0].Reason)

	w.settle(phaseNames...)
	d := w.get("broker")
	d.Status.Conditions = nil
	require.NoError(t, w.e.client.Status().Update(t.Context(), d))
	res = w.pass()
	assert.Equal(t, []string{"1Completed"}, w.revisions())
	assert.Equal(t, rollout.Completed, res.Rollout.State)
	assert.Equal(t, res.Rollout.To, res.Rollout.From)
	assert.Equal(t, []string{"RolloutCompleted"}, w.told)
	w.pass()
	assert.Empty(t, w.writes)
	w.restart(w.e.client)
	w.pass()
	assert.Empty(t, w.writes, "a new process knows it, too")
}

func TestUpgradeInOrder(t *testing.T) {
	w := newTown(t)
	w.install()
	w.want("v2")
	res := w.pass()
	assert.Equal(t, "v2 v1 v1", w.running())
	assert.Equal(t, []string{"create ControllerRevision owner-" + strings.TrimPrefix(res.Rollout.To, "owner-"), "patch Deployment controller"}, w.writes)
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	assert.Equal(t, "controller", res.Rollout.Phase)
	assert.Equal(t, []store.Key{keyOf("broker"), keyOf("server")}, paused(res))
	assert.True(t, w.now.Equal(res.Rollout.StartedAt))
	w.pass()
	assert.Empty(t, w.writes)

	w.settle("controller")
	assert.Equal(t, "broker", w.pass().Rollout.Phase)
	assert.Equal(t, "v2 v2 v1", w.running())
	w.settle("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.running())
	assert.Equal(t, []string{"1Completed", "2Progressing"}, w.revisions())
	w.now = w.now.Add(time.Minute)
	w.settle("server")
	res = w.pass()
	assert.Equal(t, []string{"1Completed", "2Completed"}, w.revisions())
	assert.Equal(t, time.Minute, res.Rollout.FinishedAt.Sub(res.Rollout.StartedAt))
	w.pass()
	assert.Empty(t, w.writes)
	assert.Equal(t, []string{"RolloutCompleted", "RolloutStarted", "RolloutCompleted"}, w.told)

	w.images["server"] = "v3"
	w.pass()
	assert.Equal(t, "v2 v2 v3", w.running(), "only what changed")
	w.settle("server")
	w.pass()
	assert.Equal(t, []string{"2Completed", "3Completed"}, w.revisions(), "two are kept")
	w.images["server"] = "v2"
	w.pass()
	assert.Equal(t, []string{"3Completed", "4Progressing"}, w.revisions(), "the older one is wanted again")
	w.settle("server")
	w.pass()
	assert.Equal(t, []string{"3Completed", "4Completed"}, w.revisions())
}

func TestHalt(t *testing.T) {
	w := newTown(t)
	w.install()
	w.want("v2")
	w.pass()
	w.settle("controller")
	w.pass()
	w.fail("broker")
	res := w.pass()
	assert.Equal(t, "Deployment.apps default/broker: ProgressDeadlineExceeded: no progress", res.rolloutFailure().String())
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running(), "nothing later is touched")
	assert.Equal(t, []string{"RolloutCompleted", "RolloutStarted", "RolloutHalted"}, w.told, "told once")
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Equal(t, events.ReasonRolloutHalted, conditions[0].Reason)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)

	// Drift is repaired in any phase: to what is wanted, or to what was before.
	require.NoError(t, w.e.client.Delete(t.Context(), w.get("server")))
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running(), "recreated as it was")
	w.settle("server")
	edited := w.get("server")
	edited.Spec.Template.Spec.Containers[0].Image = "edited"
	require.NoError(t, w.e.client.Update(t.Context(), edited))
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running(), "put back to what it was")

	w.want("v3")
	w.settle("server")
	w.pass()
	assert.Equal(t, "v3 v2 v1", w.running(), "a new roll-out begins at the first phase")
	assert.Equal(t, []string{"1Completed", "3Progressing"}, w.revisions())
	w.settle("controller")
	w.pass()
	d := w.get("broker")
	d.Status.Conditions = nil
	require.NoError(t, w.e.client.Status().Update(t.Context(), d))
	w.settle("broker")
	w.pass()
	w.settle("server")
	w.pass()
	assert.Equal(t, "v3 v3 v3", w.running())
	assert.Equal(t, rollout.Completed, w.pass().Rollout.State)
}

func TestOvertakenRolloutLeavesLaterPhases(t *testing.T) {
	w := newTown(t)
	w.install()
	w.want("v2")
	w.pass()
	w.settle("controller")
	w.pass()
	w.settle("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.running())
	w.want("v3")
	w.pass()
	assert.Equal(t, "v3 v2 v2", w.running(), "not back to v1 in between")
	w.want("v1")
	w.pass()
	assert.Equal(t, "v1 v2 v2", w.running(), "also what was completed is returned to in order")
	assert.Equal(t, []string{"1Completed"}, w.revisions())
	w.settle("controller")
	w.pass()
	assert.Equal(t, "v1 v1 v2", w.running())
}

func TestErrorsHoldLaterPhases(t *testing.T) {
	w := newTown(t)
	w.install()
	w.want("v2")
	funcs := w.funcs()
	patch := funcs.Patch
	broken := true
	funcs.Patch = func(ctx context.Context, c client.WithWatch, obj client.Object, p client.Patch, opts ...client.PatchOption) error {
		if broken && obj.GetName() == "controller" {
			return invalid
		}
		return patch(ctx, c, obj, p, opts...)
	}
	w.restart(interceptor.NewClient(w.e.client.(telemetry.Client).Client.(client.WithWatch), funcs))
	res, err := w.passErr()
	assert.True(t, IsTerminal(err))
	assert.Equal(t, "v1 v1 v1", w.running())
	assert.Len(t, paused(res), 2)
	broken = false
	w.pass()
	assert.Equal(t, "v2 v1 v1", w.running())
}

func TestPruningWaitsForAllPhases(t *testing.T) {
	w := newTown(t)
	w.change = func(b *Builder) { b.Deployment(deployment("free")) }
	w.install()
	w.change = nil
	w.want("v2")
	delete(w.images, "server")
	w.pass()
	assert.Equal(t, "v2 v1 v1", w.running())
	w.get("free")
	w.settle("controller")
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running(), "not done yet")
	w.settle("broker")
	w.pass()
	assert.Equal(t, "v2 v2 -", w.running())
	assert.Contains(t, w.writes, "delete Deployment free")
}

func TestChildrenWithoutPhaseComeFirstAndAreNotWaitedFor(t *testing.T) {
	w := newTown(t)
	image := "v1"
	w.change = func(b *Builder) {
		d := deployment("free")
		d.Spec.Template.Spec.Containers[0].Image = image
		b.Deployment(d)
	}
	w.install()
	w.want("v2")
	image = "v2"
	w.pass()
	assert.Contains(t, w.writes[0], "free")
	assert.Equal(t, "v2 v1 v1", w.running())
	w.settle("controller")
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running())
}

func TestMisusedPhases(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	cluster := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", UID: "1"}}
	for says, b := range map[string]*Builder{
		`phase "x"`:        e.For(owner()).Rollout(rollout.Options{Phases: []string{"a"}}).ConfigMap(config("c"), InPhase("x")),
		"named twice":      e.For(owner()).Rollout(rollout.Options{Phases: []string{"a", "a"}}),
		"is empty":         e.For(owner()).Rollout(rollout.Options{Phases: []string{""}}),
		"need an owner in": e.For(cluster).Rollout(rollout.Options{Phases: []string{"a"}}),
		"desired twice":    e.For(owner()).Rollout(rollout.Options{Phases: []string{"a"}}).ConfigMap(config("c"), InPhase("a")).ConfigMap(config("c"), InPhase("a")),
	} {
		_, err := b.Reconcile(t.Context())
		assert.ErrorIs(t, err, ErrMisuse)
		assert.ErrorContains(t, err, says)
	}
	_, err := e.For(owner()).Rollout(rollout.Options{Phases: []string{"a"}}).Create(t.Context(), config("c"), InPhase("a"))
	assert.ErrorIs(t, err, ErrMisuse)
}

func TestNothingInPhasesIsNoInstall(t *testing.T) {
	w := newTown(t)
	w.images = map[string]string{}
	w.pass()
	assert.Empty(t, w.revisions())
}

func TestForeignRevision(t *testing.T) {
	w := newTown(t)
	w.pass()
	w.settle(phaseNames...)
	b := w.builder()
	p, err := w.e.newPass(owner())
	require.NoError(t, err)
	plan, err := (&phasedChildren{pass: p}).plan(b.children)
	require.NoError(t, err)
	theirs := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner-" + plan.Hash}}
	require.NoError(t, w.e.client.Create(t.Context(), theirs))
	_, err = w.passErr()
	assert.ErrorIs(t, err, ErrNotOwned)
	assert.False(t, apierrors.IsConflict(err))
}

func TestRevisionWithoutItsMarkIsReplaced(t *testing.T) {
	w := newTown(t)
	w.install()
	rev := &appsv1.ControllerRevision{}
	key := client.ObjectKey{Namespace: "default", Name: w.pass().Rollout.To}
	require.NoError(t, w.e.client.Get(t.Context(), key, rev))
	rev.Annotations = nil
	require.NoError(t, w.e.client.Update(t.Context(), rev))
	_, err := w.passErr()
	assert.True(t, isConflict(err), "%v", err)
	w.pass()
	assert.Equal(t, []string{"1Completed"}, w.revisions())
}

func TestRolloutInAView(t *testing.T) {
	w := newTown(t)
	seen := func() (rollout.Status, bool) {
		var list appsv1.ControllerRevisionList
		require.NoError(t, w.e.client.List(t.Context(), &list))
		var all []client.Object
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		all = append(all, &appsv1.ControllerRevision{})
		return View{Now: w.now, observed: view.Of(slices.Values(all))}.Rollout()
	}
	_, ok := seen()
	assert.False(t, ok)
	w.install()
	r, ok := seen()
	assert.True(t, ok)
	assert.Equal(t, *w.pass().Rollout, r)
	first := r.From
	w.want("v2")
	want := *w.pass().Rollout
	want.Phase = "" // it is kept for Rollback only
	r, _ = seen()
	assert.Equal(t, want, r)

	for _, name := range phaseNames {
		w.settle(name)
		w.pass()
	}
	r, _ = seen()
	assert.Equal(t, rollout.Completed, r.State)
	assert.Equal(t, first, r.Before)
	assert.Equal(t, want.To, r.From)
}

// paused returns the children whose change waits for earlier phases.
func paused(res Result) []store.Key {
	var keys []store.Key
	for _, child := range res.pending(events.ReasonRollingOut) {
		keys = append(keys, child.Key)
	}
	return keys
}
