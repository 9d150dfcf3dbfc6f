package buildertest_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// copying is an operator that copies an owner's data into a child, and looks again after an hour.
func copying(c *buildertest.Client) (reconcile.Reconciler, error) {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "copy").
		Owns(&corev1.ConfigMap{}).
		Plan(func(owner *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
			child := configMap(owner.Name + "-copy")
			child.Data = owner.Data
			return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(child)}, RequeueAfter: time.Hour}
		})
	return buildertest.NewReconciler(operator, c, c.Now)
}

func setColour(colour string) buildertest.Edit {
	return buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data = map[string]string{"colour": colour} })
}

func copyScenario() buildertest.Scenario {
	return buildertest.Scenario{
		Objects: []client.Object{configMap("owner")}, Requests: []reconcile.Request{request("owner")}, Reconciler: copying,
	}
}

// Once all has settled the spec changes, and all settles again; then it changes back.
func ExampleScenario_then() {
	var t *testing.T // of your test
	scenario := buildertest.Scenario{
		Objects:    []client.Object{configMap("owner")},
		Requests:   []reconcile.Request{request("owner")},
		Reconciler: copying,
		Then: []buildertest.Edit{
			buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data = map[string]string{"colour": "red"} }),
			buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data = nil }),
		},
	}
	if t != nil {
		buildertest.CrashEverywhere(t, scenario)
	}
}

// A change of an object, as a user makes it.
func ExampleChange() {
	c := buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(configMap("owner"))).Client("user")
	paint := buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data = map[string]string{"colour": "red"} })
	fmt.Println(paint(context.Background(), c))
	owner := configMap("owner")
	_ = c.Get(context.Background(), client.ObjectKeyFromObject(owner), owner)
	fmt.Println(owner.Data)
	// Output:
	// <nil>
	// map[colour:red]
}

func TestThen(t *testing.T) {
	s := copyScenario()
	s.Then = []buildertest.Edit{setColour("red"), setColour("blue")}
	server := buildertest.Settle(t, s)
	child := configMap("owner-copy")
	require.NoError(t, server.Client("user").Get(t.Context(), client.ObjectKeyFromObject(child), child))
	assert.Equal(t, "blue", child.Data["colour"])
	assert.Equal(t, 2, server.Ledger().Count(buildertest.VerbApply, corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind()),
		"it settled in between")
}

// Each step is taken once, whatever crashes.
func TestCrashEverywhereThen(t *testing.T) {
	s := copyScenario()
	s.Then = []buildertest.Edit{setColour("red"), setColour("blue")}
	s.Lag = 1
	buildertest.CrashEverywhere(t, s)
}

// Time goes on to when the operator asked for another pass, unless the clock stands.
func TestSettleMovesTheClock(t *testing.T) {
	s := copyScenario()
	assert.Equal(t, buildertest.Epoch.Add(3*time.Hour), buildertest.Settle(t, s).Clock().Now())
	s.ClockStands = true
	assert.Equal(t, buildertest.Epoch, buildertest.Settle(t, s).Clock().Now())
}

// failing is a testing.TB that keeps what a test failed with.
type failing struct {
	testing.TB
	ctx context.Context
	err string
}

func (f *failing) Helper()                  {}
func (f *failing) Context() context.Context { return f.ctx }
func (f *failing) Fatal(args ...any)        { f.err = fmt.Sprint(args...); panic(errFatal) }

var errFatal = errors.New("fatal")

// A wrong plan fails a scenario, whose other terminal errors may remain; so does a step that fails.
func TestWhatFailsAScenario(t *testing.T) {
	settle := func(s buildertest.Scenario) string {
		f := &failing{TB: t, ctx: t.Context()}
		func() {
			defer func() { _ = recover() }()
			buildertest.Settle(f, s)
		}()
		return f.err
	}
	planned := func(plan builder.PlanFunc[*corev1.ConfigMap]) string {
		s := copyScenario()
		s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
			operator := builder.NewOperator[*corev1.ConfigMap](nil, "wrong").Owns(&corev1.Secret{}).Plan(plan)
			return buildertest.NewReconciler(operator, c, c.Now)
		}
		return settle(s)
	}
	assert.Contains(t, planned(func(_ *corev1.ConfigMap, seen builder.View) builder.Plan[*corev1.ConfigMap] {
		builder.Owned[*batchv1.Job](seen)
		return builder.Plan[*corev1.ConfigMap]{}
	}), "Owns(&batchv1.Job{})")
	assert.Contains(t, planned(func(*corev1.ConfigMap, builder.View) builder.Plan[*corev1.ConfigMap] {
		twice := builder.Want(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "twice"}})
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{twice, twice}}
	}), "desired twice")
	calls := 0
	assert.Contains(t, planned(func(*corev1.ConfigMap, builder.View) builder.Plan[*corev1.ConfigMap] {
		calls++
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"calls": strconv.Itoa(calls)},
		})}}
	}), "the same arguments, *v1.Secret default/a has another stringData.calls")
	assert.Contains(t, planned(func(_ *corev1.ConfigMap, seen builder.View) builder.Plan[*corev1.ConfigMap] {
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{builder.Want(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "a"}, StringData: map[string]string{"now": seen.Now.Format(time.RFC3339)},
		})}}
	}), "leave View.Now out")
	calls = 0
	assert.Contains(t, planned(func(*corev1.ConfigMap, builder.View) builder.Plan[*corev1.ConfigMap] {
		calls++
		return builder.Plan[*corev1.ConfigMap]{Children: []builder.Child{
			builder.Want(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", calls)}}),
		}}
	}), "is a child only once")
	grows := func(_ *corev1.ConfigMap, seen builder.View) builder.Plan[*corev1.ConfigMap] { // one child a second, of 3
		var plan builder.Plan[*corev1.ConfigMap]
		age := int(seen.Now.Sub(buildertest.Epoch) / time.Second)
		for i := range min(age+1, 3) {
			plan.Children = append(plan.Children, builder.Want(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("a", i)}}))
		}
		if age < 2 {
			plan.RequeueAfter = time.Second
		}
		random := builder.Want(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "password"}, StringData: map[string]string{"password": rand.Text()},
		}, builder.CreateOnly())
		plan.Children = append(plan.Children, random)
		return plan
	}
	assert.Empty(t, planned(grows))

	lost := copyScenario()
	lost.Then = []buildertest.Edit{buildertest.Change(configMap("missing"), func(*corev1.ConfigMap) {})}
	assert.Contains(t, settle(lost), "step 1 of Then")
}
