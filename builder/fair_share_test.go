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
