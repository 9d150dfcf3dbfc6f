package cli

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 90 * time.Second

// place is a test's namespace, where a manager runs.
type place struct{ *harness.Place }

// newPlace makes a place for a test that runs beside the others: most of the time it waits.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	return newPlaceAlone(t)
}

// newPlaceAlone makes a place for a test that runs by itself: queues are in no namespace, and each manager sees all of them.
func newPlaceAlone(t *testing.T) *place {
	t.Helper()
	p := connect(t)
	binary.StartManager(t, p.Namespace)
	return p
}

// connect returns a place without a manager.
func connect(t *testing.T) *place {
	t.Helper()
	return &place{harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)}
}

// armature runs a command in the namespace, and returns what it printed and its exit code.
func (p *place) armature(args ...string) (out, errs string, code int) {
	p.T.Helper()
	return binary.RunIn(p.T, p.Namespace, args...)
}

// offers waits until a shell would offer this for the last of the arguments. A slow API server leaves names out, because a user waits.
func (p *place) offers(expected, command string, args ...string) {
	p.T.Helper()
	all := append([]string{"__complete", command, "--kubeconfig", testcluster.Kubeconfig(p.T), "-n", p.Namespace}, args...)
	var out string
	p.Eventually("armature offers "+expected, func() bool {
		var errs string
		var code int
		out, errs, code = binary.Run(p.T, all...)
		require.Zero(p.T, code, "armature %v: %s", all, errs)
		return out == expected
	}, func() any { return out })
}

// succeeds runs a command that must succeed, and returns what it printed.
func (p *place) succeeds(args ...string) string {
	p.T.Helper()
	out, errs, code := p.armature(args...)
	require.Zero(p.T, code, "armature %v: %s", args, errs)
	return out
}

// fails runs a command that must fail, and returns what it said.
func (p *place) fails(args ...string) string {
	p.T.Helper()
	out, errs, code := p.armature(args...)
	require.Equal(p.T, 1, code, "armature %v: %s", args, out)
	return errs
}

func (p *place) create(obj client.Object) {
	p.T.Helper()
	obj.SetNamespace(p.Namespace)
	require.NoError(p.T, p.Client.Create(p.T.Context(), obj))
}

// waitState waits until a flow is in a state.
func (p *place) waitState(name string, state v1alpha1.State) {
	p.T.Helper()
	p.wait(name, string(state), func(flow *v1alpha1.JobFlow) bool { return flow.Status.State == state })
}

// waitReason waits until a FluxJob is in a state, and, if it matters, waits for a reason.
func (p *place) waitReason(name string, state v1alpha1.FluxJobState, reason string) {
	p.T.Helper()
	job := &v1alpha1.FluxJob{}
	p.Eventually(fmt.Sprintf("%s to be %s %s", name, state, reason), func() bool {
		err := p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name}, job)
		c := meta.FindStatusCondition(job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
		return err == nil && job.Status.State == state && (reason == "" || (c != nil && c.Reason == reason))
	})
}

// waitSuspended waits until a flow is suspended, or isn't any more.
func (p *place) waitSuspended(name string, suspended bool) {
	p.T.Helper()
	p.wait(name, fmt.Sprint("suspended: ", suspended), func(flow *v1alpha1.JobFlow) bool {
		return meta.IsStatusConditionTrue(flow.Status.Conditions, v1alpha1.ConditionSuspended) == suspended
	})
}

// wait waits until a flow's status is about its spec, and as it should be.
func (p *place) wait(name, what string, done func(*v1alpha1.JobFlow) bool) {
	p.T.Helper()
	flow := &v1alpha1.JobFlow{}
	p.Eventually(name+" to be "+what, func() bool {
		err := p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name}, flow)
		return err == nil && flow.Status.ObservedGeneration == flow.Generation && done(flow)
	})
}

func flowOf(name string, nodes ...v1alpha1.Flow) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.JobFlowSpec{Flows: nodes}}
}

func node(name, script string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: &batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", script},
		}}}},
	}}
}
