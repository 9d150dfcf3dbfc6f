package builder_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/testcluster"
)

// plan is the operator of the tests: a ConfigMap for each child, a Deployment if there are replicas.
func plan(owner *Widget, seen builder.View) builder.Plan[*Widget] {
	after := owner.DeepCopy()
	after.Status.Seen = nil
	for _, c := range builder.Owned[*corev1.ConfigMap](seen) {
		after.Status.Seen = append(after.Status.Seen, c.Name)
	}
	p := builder.Plan[*Widget]{Status: after, Prune: []client.Object{&corev1.ConfigMap{}}}
	for _, name := range owner.Spec.Children {
		p.Children = append(p.Children, builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: owner.Spec.Data}))
	}
	if owner.Spec.Replicas != nil {
		d := webDeployment()
		d.Spec.Replicas = owner.Spec.Replicas
		p.Children = append(p.Children, builder.Want(d))
	}
	if secret, ok := builder.Lookup[*corev1.Secret](seen, owner.Spec.Source); ok {
		after.Status.Source = string(secret.Data["word"])
		if owner.Status.Source != after.Status.Source {
			p.Events = append(p.Events, events.Normal("SourceRead", "the word is "+after.Status.Source).About(secret))
		}
	}
	meta.SetStatusCondition(after.Conditions(), metav1.Condition{
		Type: events.ConditionReady, Status: metav1.ConditionTrue, Reason: "Planned", ObservedGeneration: owner.Generation,
	})
	return p
}

// operated is a world with the operator in it.
type operated struct {
	*world
	widget *Widget
	mu     sync.Mutex
	passes int
	stop   func()
	also   func(*builder.Operator[*Widget]) // what else there is to say of the operator
}

func operate(t *testing.T, plan builder.PlanFunc[*Widget], widget *Widget, elsewhere ...client.Object) *operated {
	return operateAs(t, func(o *builder.Operator[*Widget]) { o.OwnsCrossNamespace(elsewhere...) }, plan, widget)
}

func operateAs(t *testing.T, also func(*builder.Operator[*Widget]), plan builder.PlanFunc[*Widget], widget *Widget) *operated {
	testcluster.InstallCRDs(t, "testdata/crd")
	w := &world{t: t, ctx: t.Context(), ns: testcluster.Namespace(t), sent: &ledger{}}
	var err error
	w.live, err = client.New(testcluster.Config(t), client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	o := &operated{world: w, widget: widget, also: also}
	widget.Name, widget.Namespace = "widget", w.ns
	require.NoError(t, w.live.Create(w.ctx, widget))
	o.start(plan)
	return o
}

// start starts a manager with the operator, anew.
func (o *operated) start(plan builder.PlanFunc[*Widget]) {
	mgr := newManager(o.t, o.sent.watch(testcluster.Config(o.t)))
	o.cached = mgr.GetClient()
	operator := builder.NewOperator[*Widget](mgr, "widget-tester").
		Owns(&corev1.ConfigMap{}).
		Owns(&appsv1.Deployment{}).
		Owns(&appsv1.ControllerRevision{}).
		Watches(&corev1.Secret{}, builder.ReferencedBy(func(w *Widget) []string { return []string{w.Spec.Source} })).
		Plan(func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
			if owner.Namespace != o.ns {
				return builder.Plan[*Widget]{}
			}
			defer func() {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.passes++
			}()
			return plan(owner, seen)
		})
	o.also(operator)
	require.NoError(o.t, operator.Complete())
	o.stop = start(o.t, mgr)
}

func (o *operated) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.passes
}

// settled waits until the operator has nothing to do: a pass after the last change of the owner made no request.
func (o *operated) settled() {
	o.t.Helper()
	o.eventually(func() bool {
		o.sent.reset()
		o.poke()
		return len(o.writes()) == 0
	}, "the operator to be done, sent %v", o.sent.all())
}

// poke makes a pass happen and waits for it.
func (o *operated) poke() {
	before := o.count()
	o.change(func(w *Widget) {
		if w.Annotations == nil {
			w.Annotations = map[string]string{}
		}
		w.Annotations["example.com/poked"] = time.Now().String()
	})
	o.eventually(func() bool { return o.count() > before }, "a pass")
	o.eventually(func() bool { return o.count() > before && o.idle() }, "its end")
}

// idle makes sure that no pass is under way, by a read that waits for the passes' writes.
func (o *operated) idle() bool {
	n := o.count()
	o.settle(o.widget)
	return n == o.count()
}

// writes lists the requests that changed something, or tried to, events aside.
func (o *operated) writes() []string {
	return slices.DeleteFunc(o.sent.all(), func(s string) bool {
		return strings.HasPrefix(s, "GET ") || strings.Contains(s, "/events")
	})
}

func (o *operated) change(change func(*Widget)) {
	o.eventually(func() bool {
		w := o.get(o.widget).(*Widget)
		change(w)
		return o.live.Update(o.ctx, w) == nil
	}, "change the widget")
}

func (o *operated) condition(kind string) *metav1.Condition {
	return meta.FindStatusCondition(o.get(o.widget).(*Widget).Status.Conditions, kind)
}

// heard counts the events of a reason, repeated ones included.
func (o *operated) heard(reason string) int {
	var list eventsv1.EventList
	require.NoError(o.t, o.live.List(o.ctx, &list, client.InNamespace(o.ns)))
	n := 0
	for _, e := range list.Items {
		if e.Reason == reason && e.Regarding.Kind == "Widget" {
			n++
			if e.Series != nil {
				n += int(e.Series.Count)
			}
		}
	}
	return n
}

func TestOperatorMakesWhatIsPlanned(t *testing.T) {
	o := operate(t, plan, &Widget{Spec: WidgetSpec{Children: []string{"a", "b"}, Data: map[string]string{"k": "1"}}})
	o.eventually(func() bool { return slices.Equal(o.get(o.widget).(*Widget).Status.Seen, []string{"a", "b"}) }, "the status")
	o.settled()
	o.eventually(func() bool { return o.heard(events.ReasonCreated) == 1 }, "one event for both")

	require.NoError(t, o.live.Delete(o.ctx, o.get(configMap("a"))))
	o.eventually(func() bool { return o.exists(configMap("a")) }, "the deleted child to come back")
	o.settled()

	o.sent.reset()
	o.change(func(w *Widget) { w.Spec.Data["k"] = "2"; w.Spec.Children = []string{"b"} })
	o.eventually(func() bool {
		return !o.exists(configMap("a")) && o.get(configMap("b")).(*corev1.ConfigMap).Data["k"] == "2"
	}, "change and prune")
	o.eventually(func() bool { return slices.Equal(o.get(o.widget).(*Widget).Status.Seen, []string{"b"}) }, "the status")
	assert.LessOrEqual(t, o.sent.count("PATCH", "/status"), 2)
	o.settled()
	o.eventually(func() bool { return o.heard(events.ReasonDeleted) == 1 && o.heard(events.ReasonUpdated) == 1 }, "their events")

	// An owner that is being deleted gets no new children.
	o.change(func(w *Widget) { w.Finalizers = []string{"example.com/hold"} })
	require.NoError(t, o.live.Delete(o.ctx, o.widget))
	require.NoError(t, o.live.Delete(o.ctx, o.get(configMap("b"))))
	o.poke()
	assert.False(t, o.exists(configMap("b")))
	o.change(func(w *Widget) { w.Finalizers = nil })
	o.eventually(func() bool { return !o.exists(o.widget) }, "the owner to be gone")
}

func TestOperatorReportsAnInvalidChildOnce(t *testing.T) {
	o := operate(t, plan, &Widget{Spec: WidgetSpec{Children: []string{"a"}, Replicas: ptr.To[int32](-1)}})
	o.eventually(func() bool { return o.condition(events.ConditionStalled) != nil }, "the condition")
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
		c := o.condition(kind)
		assert.Equal(t, events.ReasonApplyFailed, c.Reason)
		assert.Contains(t, c.Message, "spec.replicas")
		assert.Equal(t, int64(1), c.ObservedGeneration)
	}
	assert.True(t, o.exists(configMap("a")))
	o.poke() // the created child caused a pass
	assert.Greater(t, o.count(), 1)
	assert.Equal(t, 1, o.sent.count("POST", "/deployments"), "what was called invalid isn't tried in each pass")
	o.eventually(func() bool {
		o.sent.reset()
		o.poke()
		return o.sent.count("PATCH", "/status") == 0 && o.sent.count("POST", "/deployments") == 0
	}, "the status to be written no more")
	o.eventually(func() bool { return o.heard(events.ReasonApplyFailed) == 1 }, "one event")

	o.change(func(w *Widget) { w.Spec.Replicas = ptr.To[int32](0) })
	o.eventually(func() bool {
		ready := o.condition(events.ConditionReady)
		return o.condition(events.ConditionStalled) == nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == 2
	}, "the conditions to be taken back")
	assert.Equal(t, 1, o.heard(events.ReasonApplyFailed))
}

func TestOperatorRefusesAForeignObject(t *testing.T) {
	o := operate(t, plan, &Widget{})
	theirs := configMap("theirs", "a", "b")
	theirs.Namespace = o.ns
	require.NoError(t, o.live.Create(o.ctx, theirs))
	o.settle(theirs)
	o.change(func(w *Widget) { w.Spec.Children = []string{"theirs"} })
	o.eventually(func() bool {
		c := o.condition(events.ConditionReady)
		return c != nil && c.Reason == events.ReasonNotOwned
	}, "the condition")
	assert.Nil(t, o.condition(events.ConditionStalled))
	assert.Equal(t, theirs.ResourceVersion, o.get(theirs).GetResourceVersion())
	o.eventually(func() bool { return o.heard(events.ReasonNotOwned) == 1 }, "the event")
	n := o.count()
	o.eventually(func() bool { return o.count() > n+2 }, "retries")
	assert.Equal(t, 1, o.heard(events.ReasonNotOwned))

	require.NoError(t, o.live.Delete(o.ctx, theirs))
	o.eventually(func() bool { return o.condition(events.ConditionReady).Status == metav1.ConditionTrue }, "the name to be free")
	assert.True(t, metav1.IsControlledBy(o.get(theirs), o.widget))
}

func TestReferredObjectWakesItsOwners(t *testing.T) {
	o := operate(t, plan, &Widget{Spec: WidgetSpec{Source: "source"}})
	o.settled()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "source"}, StringData: map[string]string{"word": "hello"}}
	require.NoError(t, o.live.Create(o.ctx, secret))
	o.eventually(func() bool { return o.get(o.widget).(*Widget).Status.Source == "hello" }, "the new secret to be read")
	o.edit(secret, func(s client.Object) { s.(*corev1.Secret).Data["word"] = []byte("world") })
	o.eventually(func() bool { return o.get(o.widget).(*Widget).Status.Source == "world" }, "the changed secret to be read")
	o.eventually(func() bool { return o.heard("SourceRead") == 2 }, "an event for each transition")
	o.settled()
	assert.Equal(t, 2, o.heard("SourceRead"))
}

func TestRequeueAfter(t *testing.T) {
	created := time.Time{}
	timed := func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		p := plan(owner, seen)
		if created.IsZero() {
			created = seen.Now
		}
		if left := created.Add(500 * time.Millisecond).Sub(seen.Now); left > 0 {
			p.RequeueAfter = left
			return p
		}
		p.Status.Status.Source = "time is up"
		return p
	}
	// The deadline holds beside an error that isn't retried, too.
	o := operate(t, timed, &Widget{Spec: WidgetSpec{Replicas: ptr.To[int32](-1)}})
	o.eventually(func() bool { return o.get(o.widget).(*Widget).Status.Source == "time is up" }, "the deadline")
}

func TestConflictingStatusIsWrittenAndToldOnce(t *testing.T) {
	var o *operated
	ready := make(chan struct{})
	interrupted := false
	interrupt := func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		<-ready
		p := plan(owner, seen)
		if owner.Status.Source == "" {
			p.Status.Status.Source = "set"
			p.Events = append(p.Events, events.Normal("SourceSet", "set"))
		}
		if !interrupted { // someone writes between our read and our write
			interrupted = true
			o.change(func(w *Widget) { w.Labels = map[string]string{"by": "someone"} })
		}
		return p
	}
	o = operateLater(t, interrupt, ready)
	o.eventually(func() bool { return o.get(o.widget).(*Widget).Status.Source == "set" }, "the status")
	o.eventually(func() bool { return o.heard("SourceSet") == 1 }, "the event")
	o.settled()
	assert.Equal(t, 1, o.heard("SourceSet"))
	assert.Equal(t, "someone", o.get(o.widget).GetLabels()["by"])
}

// operateLater starts an operator whose plan waits until ready is closed: when the returned value can be used.
func operateLater(t *testing.T, plan builder.PlanFunc[*Widget], ready chan struct{}) *operated {
	o := operate(t, plan, &Widget{})
	close(ready)
	return o
}

func TestRestartedManager(t *testing.T) {
	o := operate(t, plan, &Widget{Spec: WidgetSpec{Children: []string{"a", "b"}, Data: map[string]string{"k": "1"}, Replicas: ptr.To[int32](0)}})
	o.eventually(func() bool { return slices.Equal(o.get(o.widget).(*Widget).Status.Seen, []string{"a", "b"}) }, "the status")
	o.settled()
	o.stop()

	a := o.get(configMap("a")).(*corev1.ConfigMap)
	a.Data["k"] = "drifted"
	require.NoError(t, o.live.Update(o.ctx, a))
	o.sent.reset()
	o.start(plan)
	o.eventually(func() bool { return o.get(a).(*corev1.ConfigMap).Data["k"] == "1" }, "what drifted meanwhile")
	o.idle()
	assert.Len(t, o.writes(), 1, "%v", o.writes())
	o.settled()
}

func TestMisdescribedOperators(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/crd")
	mgr := newManager(t, testcluster.Config(t))
	assert.ErrorIs(t, builder.NewOperator[*Widget](mgr, "x").Complete(), builder.ErrMisuse)
	assert.ErrorIs(t, builder.NewOperator[*Widget](mgr, "x").Owns(nil).Plan(plan).Complete(), builder.ErrMisuse)
	assert.ErrorIs(t, builder.NewOperator[*Widget](mgr, "x").Watches(&corev1.Secret{}, builder.ReferencedBy[*Widget](nil)).Plan(plan).Complete(), builder.ErrMisuse)
	assert.ErrorIs(t, builder.NewOperator[client.Object](mgr, "x").
		Plan(func(client.Object, builder.View) builder.Plan[client.Object] { return builder.Plan[client.Object]{} }).Complete(), builder.ErrMisuse)
}
