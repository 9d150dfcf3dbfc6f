package jobflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience = 90 * time.Second
	examples = "../../../examples/jobflow/"
)

// place is a test's namespace on the cluster.
type place struct{ *harness.Place }

// newPlace makes a place for a test that runs beside the others: most of the time it waits for pods.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	return newPlaceAlone(t)
}

// newPlaceAlone makes a place for a test that runs by itself: it counts the passes of all managers of this process, or
// measures who is faster.
func newPlaceAlone(t *testing.T) *place {
	t.Helper()
	return &place{harness.New(t, "JobFlow", patience)}
}

// manage runs a manager for the namespace until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.T.Helper()
	mgr := p.NewManager(testcluster.OperatorConfig(p.T, "jobflow"), p.Options(), change...)
	require.NoError(p.T, jobflow.Setup(mgr))
	return p.Start(mgr)
}

// flow returns a flow of a name as it is now.
func (p *place) flow(name string) *v1alpha1.JobFlow {
	p.T.Helper()
	flow := &v1alpha1.JobFlow{}
	p.Get(name, flow)
	return flow
}

// wait waits until a flow is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.JobFlow) bool) *v1alpha1.JobFlow {
	p.T.Helper()
	var flow *v1alpha1.JobFlow
	p.Eventually(what, func() bool {
		flow = p.flow(name)
		return done(flow)
	}, func() any { return flow.Status })
	return flow
}

// waitState waits until a flow is in a state.
func (p *place) waitState(name string, state v1alpha1.State) *v1alpha1.JobFlow {
	p.T.Helper()
	return p.wait(name, name+" is "+string(state), func(f *v1alpha1.JobFlow) bool { return f.Status.State == state })
}

// touch makes the operator look at a flow again, without changing what it says.
func (p *place) touch(name string) {
	p.T.Helper()
	p.Touch(jobflow.Name, p.flow(name))
}

// pods returns a flow's pods by node of the graph.
func (p *place) pods(flow string) map[string]corev1.Pod {
	p.T.Helper()
	pods := map[string]corev1.Pod{}
	for _, pod := range p.PodsWith(jobflow.LabelJobFlow, flow) {
		name := pod.Labels[jobflow.LabelFlow]
		require.NotContains(p.T, pods, name, "a second pod of flow %s", name)
		pods[name] = pod
	}
	return pods
}
