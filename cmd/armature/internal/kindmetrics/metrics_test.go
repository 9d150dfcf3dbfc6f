package kindmetrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds int) *metav1.Time {
	t := metav1.NewTime(epoch.Add(time.Duration(seconds) * time.Second))
	return &t
}

// flow is a JobFlow that was created at the epoch.
func flow(uid string, started, ended *metav1.Time, condition string) *v1alpha1.JobFlow {
	f := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), CreationTimestamp: metav1.NewTime(epoch)}}
	f.Status.StartTime, f.Status.CompletionTime = started, ended
	if condition != "" {
		f.Status.Conditions = []metav1.Condition{{Type: condition, Status: metav1.ConditionTrue}}
	}
	return f
}

func elected() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

func TestMetrics(t *testing.T) {
	m := New(elected())
	h := m.handler("JobFlow")
	h.OnAdd(flow("old", at(1), at(5), v1alpha1.ConditionSucceeded), true) // ended before we came
	h.OnAdd(flow("waits", nil, nil, ""), true)
	for _, f := range []struct{ uid, condition string }{{"good", v1alpha1.ConditionSucceeded}, {"bad", v1alpha1.ConditionFailed}} {
		h.OnAdd(flow(f.uid, nil, nil, ""), false)
		h.OnUpdate(flow(f.uid, nil, nil, ""), flow(f.uid, at(2), nil, ""))
		h.OnUpdate(flow(f.uid, at(2), nil, ""), flow(f.uid, at(2), at(12), f.condition))
		h.OnUpdate(flow(f.uid, at(2), at(12), f.condition), flow(f.uid, at(2), at(12), f.condition)) // a resync
	}
	h.OnAdd(flow("runs", nil, nil, ""), false)
	h.OnUpdate(flow("runs", nil, nil, ""), flow("runs", at(2), nil, ""))
	h.OnDelete(flow("bad", at(2), at(12), v1alpha1.ConditionFailed))

	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP armature_finished_total Objects that have ended, by kind and outcome (succeeded, failed).
# TYPE armature_finished_total counter
armature_finished_total{kind="JobFlow",outcome="failed"} 1
armature_finished_total{kind="JobFlow",outcome="succeeded"} 1
# HELP armature_objects Objects of a kind, by state: waiting (not started yet), active, finished.
# TYPE armature_objects gauge
armature_objects{kind="JobFlow",state="active"} 1
armature_objects{kind="JobFlow",state="finished"} 2
armature_objects{kind="JobFlow",state="waiting"} 1
`), "armature_finished_total", "armature_objects"))

	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(m))
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		switch family.GetName() {
		case "armature_duration_seconds":
			assert.EqualValues(t, 10, family.GetMetric()[0].GetHistogram().GetSampleSum())
		case "armature_start_latency_seconds":
			assert.EqualValues(t, 3, family.GetMetric()[0].GetHistogram().GetSampleCount())
			assert.EqualValues(t, 6, family.GetMetric()[0].GetHistogram().GetSampleSum())
		}
	}
	problems, err := testutil.CollectAndLint(m)
	require.NoError(t, err)
	assert.Empty(t, problems)
}

func TestAKindWithoutObjectsHasZeros(t *testing.T) {
	m := New(elected())
	m.handler("JobFlow")
	assert.Equal(t, 3, testutil.CollectAndCount(m, "armature_objects"))
}

func TestOnlyTheLeaderCounts(t *testing.T) {
	m := New(make(chan struct{}))
	h := m.handler("JobFlow")
	h.OnUpdate(flow("a", at(1), nil, ""), flow("a", at(1), at(2), v1alpha1.ConditionSucceeded))
	assert.Zero(t, testutil.CollectAndCount(m))
}

func TestLifeOfEachKind(t *testing.T) {
	for _, obj := range []client.Object{
		&v1alpha1.DaemonJob{}, &v1alpha1.FluxJob{}, &v1alpha1.JobFlow{}, &v1alpha1.MiniCluster{}, &v1alpha1.ReplicaJob{},
	} {
		l, ok := lifeOf(obj)
		assert.True(t, ok, "%T", obj)
		assert.Equal(t, waiting, l.state())
	}
	_, ok := lifeOf(&v1alpha1.JobTemplate{})
	assert.False(t, ok)
	unstarted := life{created: epoch, ended: at(7)}
	assert.Equal(t, 7*time.Second, unstarted.duration())
	assert.Equal(t, "failed", unstarted.outcome())
}
