package watchcmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds int) *metav1.Time {
	t := metav1.NewTime(start.Add(time.Duration(seconds) * time.Second))
	return &t
}

// sample is a flow at its fifth second: a is done, b runs, c waits.
func sample() *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Name: "sample", Namespace: "default", Generation: 1},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{
			{Name: "a"}, {Name: "b", Dependencies: []string{"a"}}, {Name: "c", Dependencies: []string{"a", "b"}},
		}},
		Status: v1alpha1.JobFlowStatus{
			State: v1alpha1.StateRunning, ObservedGeneration: 1, StartTime: at(0),
			Flows: []v1alpha1.FlowStatus{
				{Name: "a", State: v1alpha1.FlowSucceed, StartTime: at(0), CompletionTime: at(2)},
				{Name: "b", State: v1alpha1.FlowRunning, StartTime: at(2)},
				{Name: "c", State: v1alpha1.FlowPending},
			},
		},
	}
}

func TestTable(t *testing.T) {
	got := table(sample(), at(4).Time, layout{width: 80, height: 24})
	assert.Equal(t, strings.Join([]string{
		"jobflow/sample  Running  1/3  4s",
		"  FLOW  AFTER  STATE     START    TIME",
		"✔ a            Succeed     +0s      2s  " + strings.Repeat("━", 20),
		"● b     a      Running     +2s      2s  " + strings.Repeat(" ", 20) + strings.Repeat("━", 20),
		"○ c     a,b    Pending",
		"",
	}, "\n"), got)
}

func TestTableOfAFlowNobodyHasSeenYet(t *testing.T) {
	flow := sample()
	flow.Status = v1alpha1.JobFlowStatus{}
	got := table(flow, start, layout{width: 80, height: 24})
	assert.Contains(t, got, "jobflow/sample  Pending  0/3  0s")
}

func TestTableFitsTheScreen(t *testing.T) {
	flow := sample()
	for i := range 100 {
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{Name: strings.Repeat("x", i+1)})
	}
	got := table(flow, at(4).Time, layout{width: 60, height: 10})
	assert.LessOrEqual(t, strings.Count(got, "\n"), 10)
	assert.Contains(t, got, "● b", "what runs is always shown")
	for line := range strings.Lines(got) {
		assert.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 60, line)
	}
}

func TestTableOfALargeFlow(t *testing.T) {
	flow := sample()
	flow.Spec.Finally = []v1alpha1.Flow{{Name: "last"}}
	flow.Status.Flows = flow.Status.Flows[1:2] // the only one that is told of in detail
	flow.Status.Finished, flow.Status.Skipped = "0,2", "2"
	got := table(flow, at(4).Time, layout{width: 80, height: 24})
	assert.Equal(t, strings.Join([]string{
		"jobflow/sample  Running  2/4  4s",
		"  FLOW  AFTER      STATE     START    TIME",
		"✔ a                Succeed",
		"● b     a          Running     +2s      2s  " + strings.Repeat(" ", 18) + strings.Repeat("━", 18),
		"- c     a,b        Skipped",
		"○ last  (finally)  Pending",
		"",
	}, "\n"), got)
}

func TestScreenRedrawsInPlaceAndOnlyOnChange(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 80, 24 }}
	s.show(sample(), at(4).Time)
	first := out.Len()
	s.show(sample(), at(4).Time)
	assert.Equal(t, first, out.Len(), "nothing changed, nothing drawn")
	s.show(sample(), at(5).Time)
	assert.Contains(t, out.String()[first:], "\x1b[5A", "up over the five lines of the last drawing")
}

func TestLinesTellEachChangeOnce(t *testing.T) {
	var out bytes.Buffer
	l := &lines{out: &out}
	flow := sample()
	l.show(flow, at(4).Time)
	l.show(flow, at(5).Time)
	flow.Status.Flows[1] = v1alpha1.FlowStatus{Name: "b", State: v1alpha1.FlowFailed, StartTime: at(2), CompletionTime: at(6), Message: "BackoffLimitExceeded"}
	flow.Status.Flows[2].State, flow.Status.Flows[2].Message = v1alpha1.FlowSkipped, `dependency "b" failed`
	flow.Status.State, flow.Status.CompletionTime = v1alpha1.StateFailed, at(6)
	l.show(flow, at(9).Time)
	assert.Equal(t, strings.Join([]string{
		"   4s  a                    Succeed  in 2s",
		"   4s  b                    Running  after a",
		"   4s  jobflow sample is Running, 1/3",
		"   6s  b                    Failed   BackoffLimitExceeded",
		`   6s  c                    Skipped  dependency "b" failed`,
		"   6s  jobflow sample is Failed, 3/3",
		"",
	}, "\n"), out.String())
}

func TestEnded(t *testing.T) {
	flow := sample()
	done, err := ended(flow)
	assert.False(t, done)
	require.NoError(t, err)

	flow.Status.State = v1alpha1.StateFailed
	done, err = ended(flow)
	assert.True(t, done)
	require.ErrorIs(t, err, ErrFailed)

	flow.Spec.Retry = 1
	done, _ = ended(flow)
	assert.False(t, done, "it is about to be retried")

	flow.Generation = 2
	done, _ = ended(flow)
	assert.False(t, done, "the status is about an older spec")
}

func TestFlowName(t *testing.T) {
	for _, args := range [][]string{{"jobflow/a"}, {"jf", "a"}, {"JobFlow", "a"}, {"jobflows.api.practice.com/a"}} {
		name, err := flowName(args)
		require.NoError(t, err)
		assert.Equal(t, "a", name)
	}
	for _, args := range [][]string{{"a"}, {"job/a"}, {"jf/"}, {"jf/a", "b"}} {
		_, err := flowName(args)
		assert.Error(t, err, args)
	}
}
