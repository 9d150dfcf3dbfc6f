package watchcmd

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
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

// flowAt returns the picture of a flow at a moment.
func flowAt(flow *v1alpha1.JobFlow, now time.Time) picture { return kinds[0].picture(flow, now) }

func TestTable(t *testing.T) {
	got := table(flowAt(sample(), at(4).Time), nil, layout{width: 80, height: 24})
	assert.Equal(t, strings.Join([]string{
		"jobflow/sample  Running  1/3  4s",
		"  " + strings.Repeat("█", 13) + strings.Repeat("▒", 13) + strings.Repeat("░", 14) + "  33%",
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
	got := table(flowAt(flow, start), nil, layout{width: 80, height: 24})
	assert.Contains(t, got, "jobflow/sample  Pending  0/3  0s")
}

func TestTableFitsTheScreen(t *testing.T) {
	flow := sample()
	for i := range 100 {
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{Name: strings.Repeat("x", i+1)})
	}
	got := table(flowAt(flow, at(4).Time), nil, layout{width: 60, height: 10})
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
	got := table(flowAt(flow, at(4).Time), nil, layout{width: 80, height: 24})
	assert.Equal(t, strings.Join([]string{
		"jobflow/sample  Running  1/4, 1 skipped  4s",
		"  " + strings.Repeat("█", 10) + strings.Repeat("▒", 10) + strings.Repeat("-", 10) + strings.Repeat("░", 10) + "  33%",
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
	s.show(flowAt(sample(), at(4).Time), nil)
	first := out.Len()
	s.show(flowAt(sample(), at(4).Time), nil)
	assert.Equal(t, first, out.Len(), "nothing changed, nothing drawn")
	s.show(flowAt(sample(), at(5).Time), nil)
	assert.Contains(t, out.String()[first:], "\x1b[6A", "up over the six lines of the last drawing")
}

func TestWhatAFailedNodeSaidLast(t *testing.T) {
	flow := sample()
	flow.Status.Flows[1] = v1alpha1.FlowStatus{Name: "b", State: v1alpha1.FlowFailed, StartTime: at(2), CompletionTime: at(3), Message: "BackoffLimitExceeded"}
	said := tails{"b": {"first", "\x1b[31mno such\tfile\x1b[0m"}}
	got := table(flowAt(flow, at(4).Time), said, layout{width: 80, height: 24})
	assert.Contains(t, got, "BackoffLimitExceeded\n  │ first\n  │ no such    file\n○ c")

	got = table(flowAt(flow, at(4).Time), said, layout{width: 80, height: 8})
	assert.LessOrEqual(t, strings.Count(got, "\n"), 8)
	assert.Contains(t, got, "│ no such", "the last line has room on a small screen")

	var out bytes.Buffer
	l := &lines{out: &out}
	l.show(flowAt(flow, at(4).Time), nil)
	l.show(flowAt(flow, at(4).Time), said)
	l.show(flowAt(flow, at(5).Time), said)
	assert.Equal(t, 1, strings.Count(out.String(), "   4s  b                    last said:\n       │ first\n       │ no such    file\n"))
}

func TestProgressBarAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		states := []v1alpha1.FlowState{v1alpha1.FlowPending, v1alpha1.FlowRunning, v1alpha1.FlowSucceed, v1alpha1.FlowFailed, v1alpha1.FlowSkipped}
		all := make([]row, rapid.IntRange(0, 200).Draw(t, "rows"))
		for i := range all {
			all[i].state = rapid.SampledFrom(states).Draw(t, "state")
		}
		width := rapid.IntRange(0, 100).Draw(t, "width")
		bar, _, _ := strings.Cut(layout{width: width}.progressBar(count(all)), " ")
		assert.Len(t, []rune(bar), max(5, min(40, width-10)))
	})
}

// BenchmarkRedraw: a flow of 1000 nodes changes, and is drawn anew on a large terminal.
func BenchmarkRedraw(b *testing.B) {
	flow := sample()
	flow.Spec.Flows = nil
	for i := range 1000 {
		f := v1alpha1.Flow{Name: fmt.Sprint("node-", i)}
		if i > 0 {
			f.Dependencies = []string{fmt.Sprint("node-", i-1)}
		}
		flow.Spec.Flows = append(flow.Spec.Flows, f)
	}
	flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "node-600", State: v1alpha1.FlowRunning, StartTime: at(2)}}
	flow.Status.Finished, flow.Status.Failed = "0-599", "7"
	s := &screen{out: io.Discard, size: func() (int, int) { return 200, 60 }, color: true}
	for i := range b.N {
		flow.Status.StartTime = at(-i) // so that there is something new to draw
		s.show(flowAt(flow, at(4).Time), tails{"node-7": {"boom"}})
	}
}

func TestLinesTellEachChangeOnce(t *testing.T) {
	var out bytes.Buffer
	l := &lines{out: &out}
	flow := sample()
	l.show(flowAt(flow, at(4).Time), nil)
	l.show(flowAt(flow, at(5).Time), nil)
	flow.Status.Flows[1] = v1alpha1.FlowStatus{Name: "b", State: v1alpha1.FlowFailed, StartTime: at(2), CompletionTime: at(6), Message: "BackoffLimitExceeded"}
	flow.Status.Flows[2].State, flow.Status.Flows[2].Message = v1alpha1.FlowSkipped, `dependency "b" failed`
	flow.Status.State, flow.Status.CompletionTime = v1alpha1.StateFailed, at(6)
	l.show(flowAt(flow, at(9).Time), nil)
	assert.Equal(t, strings.Join([]string{
		"   4s  a                    Succeed  in 2s",
		"   4s  b                    Running  after a",
		"   4s  jobflow sample is Running, 1/3",
		"   6s  b                    Failed   BackoffLimitExceeded",
		`   6s  c                    Skipped  dependency "b" failed`,
		"   6s  jobflow sample is Failed, 1/3, 1 failed, 1 skipped",
		"",
	}, "\n"), out.String())
}

func TestEnded(t *testing.T) {
	flow := sample()
	is := func() (over, failed bool) {
		p := flowAt(flow, start)
		return p.over, p.failed
	}
	over, _ := is()
	assert.False(t, over)

	flow.Status.State = v1alpha1.StateFailed
	over, failed := is()
	assert.True(t, over)
	assert.True(t, failed)

	flow.Spec.Retry = 1
	over, _ = is()
	assert.False(t, over, "it is about to be retried")

	flow.Generation = 2
	over, _ = is()
	assert.False(t, over, "the status is about an older spec")
}

// A spec that became invalid ends the command once nothing runs any more.
func TestEndedByAnInvalidSpec(t *testing.T) {
	invalid := []metav1.Condition{{Type: events.ConditionStalled, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonInvalidSpec, Message: "a cycle"}}
	flow := sample()
	flow.Status.State, flow.Status.Conditions = v1alpha1.StateRunning, invalid
	flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "a", State: v1alpha1.FlowRunning, StartTime: at(0)}}
	flow.Status.Counts.Running = 1
	assert.False(t, flowAt(flow, start).over, "a node runs")
	flow.Status.Counts.Running, flow.Status.Counts.Suspended = 0, 1
	assert.False(t, flowAt(flow, start).over, "a queue resumes its Job")
	flow.Status.Counts.Suspended = 0
	flow.Status.Flows = nil
	p := flowAt(flow, start)
	assert.True(t, p.over)
	assert.True(t, p.failed)
	flow.Status.State = v1alpha1.StateSucceed
	p = flowAt(flow, start)
	assert.True(t, p.over)
	assert.False(t, p.failed, "it succeeded before")

	job := &v1alpha1.DaemonJob{Status: v1alpha1.DaemonJobStatus{State: v1alpha1.StateRunning, Active: 1, Conditions: invalid}}
	assert.False(t, daemonPicture(job, start).over, "a node runs")
	job.Status.Active, job.Status.Suspended = 0, 1
	assert.False(t, daemonPicture(job, start).over, "a queue resumes its Job")
	job.Status.Suspended = 0
	p = daemonPicture(job, start)
	assert.True(t, p.over)
	assert.True(t, p.failed)
}

// A line that is wider than the terminal isn't wrapped: the next drawing would begin too low, and leave a line behind.
func TestWideLinesAreNotWrapped(t *testing.T) {
	var out bytes.Buffer
	s := &screen{out: &out, size: func() (int, int) { return 20, 10 }}
	s.show(picture{kind: "jobflow", name: strings.Repeat("漢", 40), state: "Running"}, nil)
	assert.True(t, strings.HasPrefix(out.String(), "\x1b[?7l"))
	assert.True(t, strings.HasSuffix(out.String(), "\x1b[?7h"))
}

func TestLinesOfFinally(t *testing.T) {
	flow := sample()
	flow.Spec.Finally = []v1alpha1.Flow{{Name: "last"}}
	flow.Status.Flows = []v1alpha1.FlowStatus{{Name: "last", State: v1alpha1.FlowRunning, StartTime: at(2)}}
	var out bytes.Buffer
	(&lines{out: &out}).show(flowAt(flow, at(4).Time), nil)
	assert.Contains(t, out.String(), "last                 Running  (finally)\n")
}
