//go:build e2e

package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exampleEdges are the dependencies of jobflow/example.yaml: what comes before what.
var exampleEdges = [][2]string{{"job1", "job2"}, {"job1", "job3"}, {"job2", "job3"}, {"job2", "job5"}, {"job4", "job5"}}

func TestExampleFlowRunsInOrderOnItsNode(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("jobflow/example.yaml")
	s.await("Succeeded", "jobflow/jobflow-example")
	s.requireOnce(5)
	for _, edge := range exampleEdges {
		s.requireOrder("jobflow-example-"+edge[0], "jobflow-example-"+edge[1])
	}
	for _, pod := range s.pods() {
		assert.Equal(t, "minikube", pod.Spec.NodeName)
		assert.Equal(t, "value1", pod.Labels["key1"])
	}
	assert.Equal(t, "job5 FOO=bar QUE=pasa\n", s.logs("job/jobflow-example-job5"))
}

// The manifest that JobFlows come from, which sleeps for minutes as it is.
func TestSeedOfJobFlows(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.applyWith("jobflow/testdata/seed.yaml", "sleep 100s", "sleep 2s", "sleep 10s", "sleep 1s")
	s.await("Succeeded", "jobflow/jobflow-example")
	s.requireOnce(5)
	for _, edge := range exampleEdges {
		s.requireOrder("jobflow-example-"+edge[0], "jobflow-example-"+edge[1])
	}
}

func TestExampleFlows(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		example, flow, condition string
		jobs                     int
		prints                   map[string]string // by Job
	}{
		{"allow-failure", "allow-failure", "Succeeded", 4, map[string]string{"deploy": "deploy goes on"}},
		{"drained", "drained", "Succeeded", 2, map[string]string{"work": "work is done"}},
		{"error", "error", "Failed", 3, nil},
		{"finally", "finally", "Failed", 3, map[string]string{"notify": "failed: work"}},
		{"foreach", "foreach", "Succeeded", 5, map[string]string{"greet-1": "1: hello Grace"}},
		{"jobtemplate", "jobtemplate", "Succeeded", 3, map[string]string{"own": "own template with FOO="}},
		{"samenode", "samenode", "Succeeded", 3, map[string]string{"join": "join runs on node-2"}},
		{"sharevolume", "sharevolume", "Succeeded", 2, map[string]string{"read": "written by the first Job"}},
		{"when", "when", "Failed", 5, map[string]string{"repair": "repair fixes it"}},
	} {
		t.Run(tc.example, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			flow := "jobflow-example-" + tc.flow
			s.apply("jobflow/" + tc.example + ".yaml")
			s.await(tc.condition, "jobflow/"+flow)
			s.requireOnce(tc.jobs)
			for job, text := range tc.prints {
				assert.Contains(t, s.logs("job/"+flow+"-"+job), text)
			}
		})
	}
}

// A test of what has failed for good ends with why, not after minutes.
func TestAwaitEndsWithAFailure(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.apply("jobflow/error.yaml")
	s.await("Failed", "jobflow/jobflow-example-error")
	start := time.Now()
	require.ErrorContains(t, s.reach("Succeeded", "jobflow/jobflow-example-error"),
		"jobflow/jobflow-example-error is to be Succeeded and has failed: JobFailed: ")
	assert.Less(t, time.Since(start), patience)
}

// The webhook is the manager's, behind a Service, with a certificate that the manager made: the API server reaches it. It
// fails open until its managers are there.
func TestWebhookRefusesWhatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.eventually("the refusal", func() error { return s.judged("circle") })
}
