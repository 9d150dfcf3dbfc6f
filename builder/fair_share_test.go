package builder

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/fairshare"
	"github.com/armature-dev/armature/builder/internal/inflight"
	"github.com/armature-dev/armature/builder/internal/throttle"
)

// stepsOf takes the steps of a simulated clock for the CPU time of a plan.
func stepsOf(now *time.Time) func(func()) time.Duration {
	return func(f func()) time.Duration {
		begun := *now
		f()
		return now.Sub(begun)
	}
}

// While the plan of an expensive namespace runs, another owner of that namespace is put off before anything is read for it, and
// one of another namespace isn't.
func TestExpensivePlansOfANamespaceRunOneAtATime(t *testing.T) {
	owner := func(namespace, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: "uid"}}
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var planned []string
	during := func() {}
	o := NewOperator[*corev1.ConfigMap](nil, "test").Plan(func(owner *corev1.ConfigMap, _ View) Plan[*corev1.ConfigMap] {
		planned = append(planned, owner.Namespace+"/"+owner.Name)
		if owner.Name == "large" {
			now = now.Add(time.Second)
			run := during
			during = func() {}
			run()
		}
		return Plan[*corev1.ConfigMap]{}
	})
	api := fake.NewClientBuilder().WithReturnManagedFields().
		WithObjects(owner("busy", "large"), owner("busy", "small"), owner("other", "small")).Build()
	o.engine = NewEngine(api, Options{})
	l, err := o.newReconciler()
	require.NoError(t, err)
	l.now, l.cpuTime = func() time.Time { return now }, stepsOf(&now)
	l.limiter, l.backoff = fairshare.New(2), throttle.NewBackoff()
	pass := func(namespace, name string) time.Duration {
		res, err := l.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
		require.NoError(t, err)
		return res.RequeueAfter
	}

	assert.Zero(t, pass("busy", "large"))
	during = func() {
		small := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "busy", Name: "small"}}
		l.backoff.When(small) // it has failed
		assert.Positive(t, pass("busy", "small"))
		l.backoff.Forget(small) // as controller-runtime does
		assert.Equal(t, 1, l.backoff.NumRequeues(small))
		assert.Zero(t, pass("other", "small"))
	}
	assert.Zero(t, pass("busy", "large"))
	assert.Zero(t, pass("busy", "small"), "the plan that was in the way has ended")
	assert.Equal(t, []string{"busy/large", "busy/large", "other/small", "busy/small"}, planned)
}

// While External waits for something outside of the cluster, plans of others run.
func TestExternalHoldsNoSlot(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	during := func() {}
	o := NewOperator[*corev1.ConfigMap](nil, "test").
		External(func(context.Context, *corev1.ConfigMap, View) (any, error) {
			run := during
			during = func() {}
			run()
			return nil, nil
		}).
		Plan(func(*corev1.ConfigMap, View) Plan[*corev1.ConfigMap] {
			now = now.Add(time.Second)
			return Plan[*corev1.ConfigMap]{}
		})
	owner := func(namespace string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "large", UID: "uid"}}
	}
	o.engine = NewEngine(fake.NewClientBuilder().WithReturnManagedFields().WithObjects(owner("one"), owner("other")).Build(), Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	r.now, r.cpuTime, r.limiter = func() time.Time { return now }, stepsOf(&now), fairshare.New(2)
	pass := func(namespace string) time.Duration {
		res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner(namespace))})
		require.NoError(t, err)
		return res.RequeueAfter
	}
	assert.Zero(t, pass("one"))
	assert.Zero(t, pass("other"))
	during = func() { assert.Zero(t, pass("other")) }
	assert.Zero(t, pass("one"))

	var taken fairshare.Slot
	during = func() { taken, _ = r.limiter.Begin("other", now) }
	assert.Positive(t, pass("one"), "the plan needs a slot")
	taken.Release()
	assert.Zero(t, pass("one"))
}

// An expensive namespace plans in turn with another one that takes each free slot at once, also one that is free only while External waits.
func TestAnExternalDoesntStarveBesideABusyNamespace(t *testing.T) {
	for _, took := range []time.Duration{10 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second} {
		t.Run(took.String(), func(t *testing.T) {
			const plan = time.Second
			begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			now := begun
			l := fairshare.New(2)
			var ofBusy fairshare.Slot
			busyUntil, busyPlans := now, 0
			forward := func(d time.Duration) { // the busy namespace asks for a slot each millisecond
				for range max(d, time.Millisecond) / time.Millisecond {
					now = now.Add(time.Millisecond)
					if now.Before(busyUntil) {
						continue
					}
					ofBusy.End(plan, now)
					if slot, wait := l.Begin("busy", now); wait == 0 {
						ofBusy, busyUntil = slot, now.Add(plan)
						busyPlans++
					}
				}
			}
			plans, observations := 0, 0
			o := NewOperator[*corev1.ConfigMap](nil, "test").
				External(func(context.Context, *corev1.ConfigMap, View) (any, error) {
					observations++
					forward(took)
					return observations, nil
				}).
				Plan(func(_ *corev1.ConfigMap, v View) Plan[*corev1.ConfigMap] {
					n, ok := External[int](v)
					assert.True(t, ok)
					assert.Equal(t, observations, n, "the last observation")
					plans++
					forward(plan)
					return Plan[*corev1.ConfigMap]{}
				})
			owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a", UID: "uid"}}
			o.engine = NewEngine(fake.NewClientBuilder().WithReturnManagedFields().WithObjects(owner).Build(), Options{})
			r, err := o.newReconciler()
			require.NoError(t, err)
			r.now, r.cpuTime, r.limiter = func() time.Time { return now }, stepsOf(&now), l
			for now.Before(begun.Add(time.Minute)) {
				res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
				require.NoError(t, err)
				forward(res.RequeueAfter)
			}
			possible := int(time.Minute / (took + 3*plan)) // External, and in the worst case a plan of the other before it and one after
			assert.GreaterOrEqual(t, plans, possible)
			assert.GreaterOrEqual(t, busyPlans, possible, "nor does the other")
			assert.InDelta(t, plans, observations, 1, "a plan that waits for its slot needs no other observation")
		})
	}
}

// What External observed is of the owner as it was, and of about that time.
func TestAKeptExternalStateIsOfTheSameOwner(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := fairshare.New(2)
	var taken fairshare.Slot
	var planned []int
	observations := 0
	o := NewOperator[*corev1.ConfigMap](nil, "test").
		External(func(context.Context, *corev1.ConfigMap, View) (any, error) {
			observations++
			if taken == (fairshare.Slot{}) {
				taken, _ = l.Begin("other", now)
			}
			return observations, nil
		}).
		Plan(func(_ *corev1.ConfigMap, v View) Plan[*corev1.ConfigMap] {
			n, _ := External[int](v)
			planned = append(planned, n)
			now = now.Add(time.Second)
			return Plan[*corev1.ConfigMap]{}
		})
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "one", Name: "a", UID: "uid"}}
	o.engine = NewEngine(fake.NewClientBuilder().WithReturnManagedFields().WithObjects(owner).Build(), Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	r.now, r.cpuTime, r.limiter = func() time.Time { return now }, stepsOf(&now), l
	pass := func() time.Duration {
		res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		require.NoError(t, err)
		return res.RequeueAfter
	}
	postponed := func() {
		t.Helper()
		taken = fairshare.Slot{}
		assert.Positive(t, pass())
		assert.Positive(t, pass())
		taken.End(time.Second, now)
		planned = nil
	}
	taken, _ = l.Begin("other", now)
	taken.End(time.Second, now)
	require.Zero(t, pass(), "the plan is an expensive one")

	postponed()
	require.Zero(t, pass())
	assert.Equal(t, []int{2}, planned)
	require.Zero(t, pass())
	assert.Equal(t, []int{2, 3}, planned, "it is kept for one plan")

	postponed()
	changed := owner.DeepCopy()
	changed.ResourceVersion, changed.Labels = "", map[string]string{"a": "b"}
	require.NoError(t, o.engine.client.Update(t.Context(), changed))
	now = now.Add(time.Second) // the owner that has observed counts as late
	require.Zero(t, pass())
	assert.Equal(t, []int{5}, planned, "the owner has changed")

	postponed()
	now = now.Add(time.Minute)
	require.Zero(t, pass())
	assert.Equal(t, []int{7}, planned, "it is too old")
}

// A process without CPU takes long for a plan that uses little of it. Such a plan isn't an expensive one.
func TestAPlanThatTheProcessHadNoCPUForIsCheap(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	during := func() {}
	o := NewOperator[*corev1.ConfigMap](nil, "test").Plan(func(*corev1.ConfigMap, View) Plan[*corev1.ConfigMap] {
		now = now.Add(time.Second)
		during()
		return Plan[*corev1.ConfigMap]{}
	})
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "busy", Name: "a", UID: "uid"}}
	o.engine = NewEngine(fake.NewClientBuilder().WithReturnManagedFields().WithObjects(owner).Build(), Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	r.now, r.limiter = func() time.Time { return now }, fairshare.New(2)
	used := time.Millisecond
	r.cpuTime = func(f func()) time.Duration { f(); return used }
	pass := func() time.Duration {
		res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		require.NoError(t, err)
		return res.RequeueAfter
	}
	second := func() {
		during = func() {}
		assert.Zero(t, pass(), "a second plan of the namespace runs beside the first one")
	}

	assert.Zero(t, pass(), "the first plan tells")
	during = second
	assert.Zero(t, pass())
	used = time.Second
	assert.Zero(t, pass())
	during = func() { assert.Positive(t, pass(), "now the namespace is expensive") }
	assert.Zero(t, pass())
}

// A pass that waits for a slot hasn't worked on its owner, so it doesn't show that the owner does no harm.
func TestAPassThatWaitsForASlotClearsNoSuspect(t *testing.T) {
	owner := func(name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "busy", Name: name, UID: "uid"}}
	}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	during := func() {}
	o := NewOperator[*corev1.ConfigMap](nil, "test").Plan(func(owner *corev1.ConfigMap, _ View) Plan[*corev1.ConfigMap] {
		now = now.Add(time.Second)
		if owner.Name == "large" {
			during()
		}
		return Plan[*corev1.ConfigMap]{}
	})
	o.engine = NewEngine(fake.NewClientBuilder().WithReturnManagedFields().WithObjects(owner("large"), owner("suspect")).Build(), Options{})
	r, err := o.newReconciler()
	require.NoError(t, err)
	dir, clock := t.TempDir(), func() time.Time { return now }
	open := func() *inflight.Record {
		record, err := inflight.Open(dir, clock)
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, record.Close()) })
		return record
	}
	open().Begin(inflight.Pass{Controller: r.engine.name, Namespace: "busy", Name: "suspect", UID: "uid"}) // and it was killed
	r.now, r.limiter, r.inFlight = clock, fairshare.New(2), open()
	now = now.Add(time.Minute)
	pass := func(name string) time.Duration {
		res, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "busy", Name: name}})
		require.NoError(t, err)
		return res.RequeueAfter
	}
	isCleared := func() bool {
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if bytes.Contains(text, []byte(`"Cleared":true`)) {
				return true
			}
		}
		return false
	}

	during = func() {
		assert.Positive(t, pass("suspect"))
		assert.False(t, isCleared())
	}
	assert.Zero(t, pass("large"))
	assert.Zero(t, pass("suspect"))
	assert.True(t, isCleared())
}
