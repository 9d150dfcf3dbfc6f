package daemonjob

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func TestExampleRunsOnEveryNodeButTheExcluded(t *testing.T) {
	p := newPlaceAlone(t)
	p.manage()
	p.Apply(examples + "example.yaml")
	job := p.waitState("daemonjob-example", v1alpha1.StateSucceed)
	assert.Equal(t, "desired 52, active 0, succeeded 52, failed 0, waiting 0, skipped 0", countsOf(job))
	assert.Equal(t, "minikube,fake-[0-49],node-2", job.Status.SucceededNodes)

	pods := p.pods("daemonjob-example")
	assert.Len(t, pods, 52)
	for node, pod := range pods {
		assert.Equal(t, corev1.RestartPolicyNever, pod.Spec.RestartPolicy, node)
		for _, key := range []string{"key1", "key2"} {
			assert.Equal(t, strings.Replace(key, "key", "value", 1), pod.Labels[key])
			assert.Equal(t, strings.Replace(key, "key", "value", 1), pod.Annotations[key])
		}
	}
	for _, node := range []string{"minikube", "node-2"} {
		assert.Equal(t, node+" FOO=bar QUE=pasa", p.Logs("job/daemonjob-example-"+node))
	}
	assert.NotContains(t, p.Jobs(), "daemonjob-example-node-3")
	assert.Equal(t, "started for 52 nodes", p.OneEvent("daemonjob-example", v1alpha1.ReasonStarted).Note)
	assert.Equal(t, "52 of 52 nodes succeeded", p.OneEvent("daemonjob-example", v1alpha1.ReasonSucceeded).Note)

	out, err := p.Kubectl("get", "dj")
	require.NoError(t, err, out)
	lines := strings.Split(out, "\n")
	assert.Equal(t, []string{"NAME", "STATUS", "DESIRED", "ACTIVE", "SUCCEEDED", "FAILED", "AGE"}, strings.Fields(lines[0]))
	assert.Equal(t, []string{"daemonjob-example", "Succeed", "52", "0", "52", "0"}, strings.Fields(lines[1])[:6])
	out, err = p.Kubectl("wait", "--for=condition=Succeeded", "--timeout=5m", "daemonjob/daemonjob-example")
	require.NoError(t, err, out)
}

// Simulated nodes run the example until they are told to end: how many run it at once is seen however slow the machine is.
func TestExampleOfARollingChange(t *testing.T) {
	p := newPlaceAlone(t)
	p.manage()
	example := &v1alpha1.DaemonJob{}
	p.ReadManifest(examples+"rolling.yaml", example)
	example.Spec.Template.Annotations = map[string]string{runTime: "forever"}
	require.NoError(t, p.Client.Create(t.Context(), example))
	upToAQuarter := func(j *v1alpha1.DaemonJob) bool {
		require.LessOrEqual(t, j.Status.Active, int32(14))
		return true
	}
	job := p.wait(example.Name, "it runs on a quarter of the nodes", func(j *v1alpha1.DaemonJob) bool {
		return upToAQuarter(j) && j.Status.Active == 14
	})
	assert.EqualValues(t, 53, job.Status.Desired)
	job = p.wait(example.Name, "all nodes have run it", func(j *v1alpha1.DaemonJob) bool {
		p.endPods(example.Name)
		return upToAQuarter(j) && j.Status.State == v1alpha1.StateSucceed
	})
	assert.EqualValues(t, 53, job.Status.Succeeded)
	assert.Equal(t, "upgrading node-3", p.Logs("job/daemonjob-example-rolling-node-3"))
}

func TestExampleForNewNodes(t *testing.T) {
	p := newPlaceAlone(t)
	p.manage()
	p.Apply(examples + "newnodes.yaml")
	out, err := p.Kubectl("wait", "--for=condition=Ready", "--timeout=5m", "daemonjob/daemonjob-example-newnodes")
	require.NoError(t, err, out)
	assert.Equal(t, v1alpha1.StateRunning, p.get("daemonjob-example-newnodes").Status.State)

	node := p.addNode("new")
	p.wait("daemonjob-example-newnodes", "the new node has run it", func(j *v1alpha1.DaemonJob) bool { return j.Status.Succeeded == 54 })
	p.removeNode(node)
	p.wait("daemonjob-example-newnodes", "the node is forgotten", func(j *v1alpha1.DaemonJob) bool { return j.Status.Desired == 53 })
	p.Eventually("its Job is deleted", func() bool { return len(p.Jobs()) == 53 })
}

func TestExampleOfACleanup(t *testing.T) {
	p := newPlaceAlone(t)
	p.manage()
	p.Apply(examples + "cleanup.yaml")
	p.waitState("daemonjob-example-cleanup", v1alpha1.StateSucceed)
}

// The seed's example is accepted as it is, by all kinds of apply, and nothing of it is dropped.
func TestSeedsExampleIsAccepted(t *testing.T) {
	for _, how := range harness.WaysToApply {
		t.Run(strings.Join(how, " "), func(t *testing.T) {
			p := newPlaceAlone(t)
			p.AcceptsAll(examples+"testdata/seed.yaml", how)
			p.manage()
			p.waitState("daemonjob-example", v1alpha1.StateRunning)
			p.Eventually("all Jobs", func() bool { return len(p.Jobs()) == 3+fakeNodes })
			assert.Contains(t, p.Jobs(), "daemonjob-example-minikube")
		})
	}
}
