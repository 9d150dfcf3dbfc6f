package effects_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/effects/effectstest"
	"github.com/armature-dev/armature/events"
)

// fixture is an operator with effects on a simulated API server.
type fixture struct {
	*testing.T
	server     *buildertest.Server
	process    *buildertest.Client
	user       client.Client
	system     effectstest.System
	reconciler reconcile.Reconciler
}

func newFixture(t *testing.T, effects string) *fixture {
	t.Helper()
	f := &fixture{T: t}
	f.server = buildertest.NewServer(newScheme(t), buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}))
	require.NoError(t, f.server.Add(newOwner(effects)))
	f.user = f.server.Client("user")
	f.restarts()
	return f
}

// restarts starts the operator's next process.
func (f *fixture) restarts() {
	f.Helper()
	f.process = f.server.Client("operator")
	r, err := buildertest.NewReconciler(operator(f.system.Through(f.process)), f.process, f.process.Now)
	require.NoError(f, err)
	f.reconciler = r
}

// passes makes one pass, and returns when it asks for the next.
func (f *fixture) passes() time.Duration {
	f.Helper()
	res, err := f.reconciler.Reconcile(f.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(newOwner(""))})
	require.NoError(f, err)
	for _, e := range f.process.Events() {
		if strings.HasPrefix(e.Reason, "Effect") {
			assert.NotEmpty(f, e.Related, "client-go would merge %q with an event about another effect", e.Note)
		}
	}
	return res.RequeueAfter
}

// settles makes passes until nothing changes. It returns when the last one asks for the next.
func (f *fixture) settles() time.Duration {
	f.Helper()
	for range 20 {
		before := f.server.Version()
		if after := f.passes(); f.server.Version() == before {
			return after
		}
	}
	f.Fatal("the operator doesn't settle")
	return 0
}

func (f *fixture) things() map[string]string {
	f.Helper()
	things, err := effectstest.Things(f.Context(), f.user)
	require.NoError(f, err)
	return things
}

// ready returns the condition Ready, as "status reason: message".
func (f *fixture) ready() string {
	f.Helper()
	c := meta.FindStatusCondition(f.owner().Status.Conditions, events.ConditionReady)
	require.NotNil(f, c)
	return string(c.Status) + " " + c.Reason + ": " + c.Message
}

func (f *fixture) owner() *v1alpha1.JobFlow {
	f.Helper()
	owner := newOwner("")
	require.NoError(f, f.user.Get(f.Context(), client.ObjectKeyFromObject(owner), owner))
	return owner
}

func (f *fixture) edits(change func(*v1alpha1.JobFlow)) {
	f.Helper()
	require.NoError(f, buildertest.Change(newOwner(""), change)(f.Context(), f.user))
}

// A plan that doesn't check whether Lookup finds the Secret gives a nil.
func TestAnEffectOfANilSecret(t *testing.T) {
	plan := func(o *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
		e := effects.Effect{Performer: "db", Key: "database/a", Secrets: []*corev1.Secret{nil}}
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{effects.Want(o, e)}}
	}
	o := builder.NewOperator[*corev1.ConfigMap](nil, "test").Owns(&appsv1.ControllerRevision{}).Plan(plan)
	_, err := buildertest.PlanFor(o, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}, builder.View{})
	require.ErrorIs(t, err, builder.ErrMisuse)
	assert.ErrorContains(t, err, `effect "database/a": its Secrets[0] is nil`)
}

// Outside of a plan, which recovers, a nil owner would end the test with a panic.
func TestAnEffectOfANilOwner(t *testing.T) {
	plan := func(*corev1.ConfigMap, builder.View) builder.Plan[*corev1.ConfigMap] {
		var forgotten *corev1.ConfigMap
		e := effects.Effect{Performer: "db", Key: "database/a"}
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{effects.Want(nil, e), effects.Want(forgotten, e)}}
	}
	o := builder.NewOperator[*corev1.ConfigMap](nil, "test").Owns(&appsv1.ControllerRevision{}).Plan(plan)
	_, err := buildertest.PlanFor(o, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}, builder.View{})
	require.ErrorIs(t, err, builder.ErrMisuse)
	assert.ErrorContains(t, err, `effect "database/a": its owner is nil`)
	assert.NotContains(t, err.Error(), "panic")
}

// A failing effect is tried again with a backoff, which outlives the process, and the condition has the performer's error.
func TestFailingEffect(t *testing.T) {
	f := newFixture(t, "database=orders")
	f.system.FailNext(3)
	after := f.settles()
	assert.Equal(t, time.Second, after)
	assert.Equal(t, `False EffectFailed: effect outside "database" is to be performed, failed 1 times, again at `+
		f.process.Now().Add(time.Second).UTC().Format(time.RFC3339)+`: the system is unavailable`, f.ready())
	assert.Len(t, f.system.Calls(), 1, "the backoff isn't over")

	f.restarts()
	f.settles()
	assert.Len(t, f.system.Calls(), 1, "nor is it in another process")
	for _, backoff := range []time.Duration{time.Second, 2 * time.Second} {
		f.server.Clock().Step(backoff)
		f.settles()
	}
	assert.Len(t, f.system.Calls(), 3)
	f.server.Clock().Step(4 * time.Second)
	assert.Equal(t, 10*time.Minute, f.settles())
	assert.Equal(t, map[string]string{"database": `"orders"`}, f.things())
	assert.Equal(t, "True Ready: all children are up to date", f.ready())
}

// A difference outside is found in time, and once after a start of the process.
func TestDriftIsRepaired(t *testing.T) {
	f := newFixture(t, "database=orders")
	f.settles()
	require.NoError(t, effectstest.Set(t.Context(), f.user, "database", `"changed"`))
	f.settles()
	assert.Len(t, f.system.Calls(), 1, "it isn't time to observe")
	f.server.Clock().Step(10 * time.Minute)
	f.settles()
	assert.Equal(t, map[string]string{"database": `"orders"`}, f.things())
	assert.Contains(t, f.eventReasons(), events.ReasonEffectDrifted)

	require.NoError(t, effectstest.Set(t.Context(), f.user, "database", ""))
	f.restarts()
	f.settles()
	assert.Equal(t, map[string]string{"database": `"orders"`}, f.things())
	assert.Equal(t, []string{"do database", "do database", "do database"}, f.system.Calls())
}

func (f *fixture) eventReasons() []string {
	var reasons []string
	for _, e := range f.process.Events() {
		reasons = append(reasons, e.Reason)
	}
	return reasons
}

// An effect that can't be undone keeps its owner, and the conditions say so. The annotation lets it go.
func TestAbandonedEffects(t *testing.T) {
	f := newFixture(t, "database=orders")
	f.settles()
	require.NoError(t, f.user.Delete(t.Context(), newOwner("")))
	f.system.FailNext(1000)
	f.settles()
	assert.Contains(t, f.ready(), `False EffectFailed: effect outside "database" is to be undone, failed 1 times`)
	f.server.Clock().Step(time.Hour)
	f.settles()
	assert.Contains(t, f.ready(), `failed 2 times`)

	f.edits(func(owner *v1alpha1.JobFlow) { owner.Annotations["armature.dev/abandon-effects"] = "true" })
	f.passes()
	f.passes()
	require.NoError(t, isGone(t.Context(), f.user))
	assert.Equal(t, map[string]string{"database": `"orders"`}, f.things())
}

// A paused owner's effects stay as they are.
func TestPausedEffects(t *testing.T) {
	f := newFixture(t, "database=orders")
	f.settles()
	f.edits(func(owner *v1alpha1.JobFlow) {
		owner.Annotations["armature.dev/paused"], owner.Annotations[desires] = "true", "database=other"
	})
	f.server.Clock().Step(time.Hour)
	f.settles()
	assert.Len(t, f.system.Calls(), 1)
	f.edits(func(owner *v1alpha1.JobFlow) { delete(owner.Annotations, "armature.dev/paused") })
	f.settles()
	assert.Equal(t, map[string]string{"database": `"other"`}, f.things())
}

// The journal has the payload, and nothing of a Secret but its name and version.
func TestPlanReadsResults(t *testing.T) {
	owner := newOwner("")
	effect := effects.Effect{Performer: "outside", Key: "database", Payload: "orders"}
	journal := effectstest.Done(owner, effect, map[string]int{"port": 5432})
	status, ok := effects.Find(buildertest.NewView(buildertest.Epoch, journal), "outside", "database")
	require.True(t, ok)
	assert.True(t, status.Done)
	assert.JSONEq(t, `{"port":5432}`, string(status.Result))
	assert.JSONEq(t, `"orders"`, string(status.Payload))
	_, ok = effects.Find(buildertest.NewView(buildertest.Epoch, journal), "outside", "other")
	assert.False(t, ok)
}

// A test of a plan reads its effects as text, and nothing of a Secret but its name.
func TestPlanAsText(t *testing.T) {
	password := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "password", UID: "1", ResourceVersion: "2"}}
	want := func(e effects.Effect) builder.Child { return effects.Want(newOwner(""), e) }
	assert.Equal(t, []string{
		`outside "database": {"name":"orders"}, order 2, retained`,
		`outside "role": "reader", Secrets password`,
		`outside "other"`,
	}, effectstest.Describe([]builder.Child{
		want(effects.Effect{Performer: "outside", Key: "database", Payload: map[string]string{"name": "orders"}, Order: 2, Retain: true}),
		builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other"}}),
		want(effects.Effect{Performer: "outside", Key: "role", Payload: "reader", Secrets: []*corev1.Secret{password}}),
		want(effects.Effect{Performer: "outside", Key: "other"}),
	}))
}

// What is wrong with an effect is an error of the plan, which names it.
func TestWrongEffects(t *testing.T) {
	for name, c := range map[string]struct {
		effect  effects.Effect
		options []builder.ChildOption
		want    string
	}{
		"no key":         {effects.Effect{Performer: "outside"}, nil, "Key is empty"},
		"no performer":   {effects.Effect{Performer: "inside", Key: "a"}, nil, `effects.PerformedBy("inside", ...)`},
		"no JSON":        {effects.Effect{Performer: "outside", Key: "a", Payload: func() {}}, nil, "its Payload is a func()"},
		"another option": {effects.Effect{Performer: "outside", Key: "a"}, []builder.ChildOption{builder.CreateOnly()}, "only InPhase"},
	} {
		t.Run(name, func(t *testing.T) {
			op := operator(new(effectstest.System).Through(nil)).Plan(
				func(owner *v1alpha1.JobFlow, _ builder.View) builder.Plan[*v1alpha1.JobFlow] {
					return builder.Plan[*v1alpha1.JobFlow]{Children: []builder.Child{effects.Want(owner, c.effect, c.options...)}}
				})
			_, err := buildertest.PlanFor(op, newOwner(""), buildertest.NewView(buildertest.Epoch))
			require.ErrorIs(t, err, builder.ErrMisuse)
			assert.ErrorContains(t, err, c.want)
		})
	}
	op := builder.NewOperator[*v1alpha1.JobFlow](nil, "x").Owns(&appsv1.ControllerRevision{}).Plan(plan)
	_, err := buildertest.PlanFor(op, newOwner("a=b"), buildertest.NewView(buildertest.Epoch))
	require.ErrorIs(t, err, builder.ErrMisuse)
	assert.ErrorContains(t, err, "no performer of this name")
}

// wrongly is a performer that fails with the password that it has received.
type wrongly struct {
	effects.Performer

	panics bool
}

func (w wrongly) Do(_ context.Context, call effects.Call) (any, error) {
	err := fmt.Errorf("can't connect as shop:%s", call.Secrets["password"]["password"])
	if w.panics {
		panic(err)
	}
	return nil, err
}

// A panic of a performer is an error of the effect. Neither the journal nor the conditions and events have the value of a Secret.
func TestErrorsHaveNoSecrets(t *testing.T) {
	for name, performer := range map[string]wrongly{"error": {}, "panic": {panics: true}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, "database=orders")
			secret := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "password"}, Data: map[string][]byte{"password": []byte("correct horse")},
			}
			require.NoError(t, f.server.Add(secret))
			r, err := buildertest.NewReconciler(operator(performer), f.process, f.process.Now)
			require.NoError(t, err)
			f.reconciler = r
			f.settles()
			assert.Contains(t, f.ready(), "can't connect as shop:(secret)")
			assert.Equal(t, performer.panics, strings.Contains(f.ready(), "the performer panicked"))
			for _, obj := range f.server.Objects() {
				if _, ok := obj.(*corev1.Secret); !ok {
					text, err := json.Marshal(obj)
					require.NoError(t, err)
					assert.NotContains(t, string(text), "correct horse")
				}
			}
			for _, e := range f.process.Events() {
				assert.NotContains(t, e.Note, "correct horse")
			}
		})
	}
}
