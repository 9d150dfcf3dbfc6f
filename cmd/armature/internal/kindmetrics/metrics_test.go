package kindmetrics

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-dev/armature/api/v1alpha1"
	_ "github.com/armature-dev/armature/builder"
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

// The first failures of a leader count as an increase only if the counter is 0 before.
func TestAKindWithoutEndsHasZeros(t *testing.T) {
	m := New(elected())
	m.handler("JobFlow")
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP armature_finished_total Objects that have ended, by kind and outcome (succeeded, failed).
# TYPE armature_finished_total counter
armature_finished_total{kind="JobFlow",outcome="failed"} 0
armature_finished_total{kind="JobFlow",outcome="succeeded"} 0
`), "armature_finished_total"))
}

// After a gap of the watch, the informer reports a deleted and recreated object as one update.
func TestAnUpdateToAnotherObjectOfTheName(t *testing.T) {
	m := New(elected())
	h := m.handler("JobFlow")
	h.OnAdd(flow("first", at(1), at(2), v1alpha1.ConditionSucceeded), true)
	h.OnUpdate(flow("first", at(1), at(2), v1alpha1.ConditionSucceeded), flow("second", at(3), nil, ""))
	h.OnUpdate(flow("second", at(3), nil, ""), flow("third", at(4), at(5), v1alpha1.ConditionFailed))
	h.OnDelete(flow("third", at(4), at(5), v1alpha1.ConditionFailed))
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP armature_objects Objects of a kind, by state: waiting (not started yet), active, finished.
# TYPE armature_objects gauge
armature_objects{kind="JobFlow",state="active"} 0
armature_objects{kind="JobFlow",state="finished"} 0
armature_objects{kind="JobFlow",state="waiting"} 0
`), "armature_objects"))
}

func TestOnlyTheLeaderCounts(t *testing.T) {
	m := New(make(chan struct{}))
	h := m.handler("JobFlow")
	h.OnUpdate(flow("a", at(1), nil, ""), flow("a", at(1), at(2), v1alpha1.ConditionSucceeded))
	assert.Zero(t, testutil.CollectAndCount(m))
}

// A FluxJob waits in its queue once for each admission, since its creation or since it lost the last one.
func TestWaitInAQueue(t *testing.T) {
	m := New(elected())
	h := m.handler("FluxJob")
	job := func(admitted, evicted *metav1.Time, queue string) *v1alpha1.FluxJob {
		j := &v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{UID: "j", CreationTimestamp: metav1.NewTime(epoch)}}
		if admitted != nil {
			j.Status.Admission = &v1alpha1.FluxAdmission{Queue: queue, Time: *admitted}
		}
		if evicted != nil {
			j.Status.LastEviction = &v1alpha1.FluxEviction{Time: *evicted}
		}
		return j
	}
	steps := []*v1alpha1.FluxJob{
		job(nil, nil, ""), job(at(10), nil, "q"), job(at(10), nil, "q"), job(nil, at(50), ""), job(at(55), at(50), "q"), // 10 s and 5 s
		job(nil, at(60), ""), job(at(70), at(60), ""), // Kueue's
	}
	queue := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	m.queueHandler().OnAdd(queue, true)
	h.OnAdd(steps[0], false)
	for i := range steps[1:] {
		h.OnUpdate(steps[i], steps[i+1])
	}
	h.OnUpdate(job(nil, nil, ""), job(at(10), nil, "unknown")) // anyone who may write the status could have written it
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(m))
	families, err := registry.Gather()
	require.NoError(t, err)
	var waits []string
	for _, family := range families {
		if family.GetName() == "armature_queue_wait_seconds" {
			for _, metric := range family.GetMetric() {
				waits = append(waits, fmt.Sprintf("%d, %v s", metric.GetHistogram().GetSampleCount(), metric.GetHistogram().GetSampleSum()))
			}
		}
	}
	assert.Equal(t, []string{"2, 15 s"}, waits)

	m.queueHandler().OnDelete(cache.DeletedFinalStateUnknown{Obj: queue})
	assert.Zero(t, testutil.CollectAndCount(m, "armature_queue_wait_seconds"))
}

// docs/metrics.md explains each metric of ours, with its labels, and no others.
func TestTheMetricsAreExplained(t *testing.T) {
	described := make(chan *prometheus.Desc)
	go func() {
		metrics.Registry.(prometheus.Collector).Describe(described) // builder's
		New(elected()).Describe(described)
		close(described)
	}()
	there := map[string][]string{}
	for d := range described {
		parts := regexp.MustCompile(`fqName: "(armature_[a-z_]+)".*variableLabels: \{([a-z,]*)\}`).FindStringSubmatch(d.String())
		if parts != nil {
			there[parts[1]] = strings.Split(parts[2], ",")
		}
	}
	text, err := os.ReadFile("../../../../docs/metrics.md")
	require.NoError(t, err)
	explained := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(armature_[a-z_]+)` \\| [a-z]+ \\| ([^|]*) \\|").FindAllStringSubmatch(string(text), -1) {
		explained[row[1]] = strings.Split(strings.ReplaceAll(row[2], "`", ""), ", ")
	}
	assert.Equal(t, there, explained)
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
