package fluxjob

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// Two managers of one namespace each, a queue of two, and three jobs in each namespace: one of the managers has the queue. When it
// is gone the other one takes over, and keeps what the first had given; when it is back it gives back what has ended, and gets the
// queue when the other one has no more jobs in it.
func TestAQueueHasOneManager(t *testing.T) {
	a := newPlace(t)
	b := newPlace(t)
	ofA := admission.Manager{Name: "test/" + a.Namespace, Namespaces: []string{a.Namespace}}
	ofB := admission.Manager{Name: "test/" + b.Namespace, Namespaces: []string{b.Namespace}}
	inA := func(j *v1alpha1.FluxJob) { j.Spec.Queue = a.Namespace }
	a.setup(clusters(2))
	a.watchPods(2, b.Namespace)
	managed := func() v1alpha1.FluxSetupManager {
		return ptr.Deref(a.queue(a.Namespace).Status.Manager, v1alpha1.FluxSetupManager{})
	}
	has := func(name string) {
		t.Helper()
		a.Eventually(name+" has the queue", func() bool { return managed().Name == name }, func() any { return a.queue(a.Namespace).Status })
	}
	held := func() (names []string) {
		for _, r := range a.queue(a.Namespace).Status.Reservations {
			names = append(names, r.Name)
		}
		return names
	}

	stopA := a.manageAs(ofA)
	for i := range 3 {
		a.submit(fmt.Sprintf("a%d", i), forever)
	}
	for _, name := range []string{"a0", "a1"} {
		a.waitState(name, v1alpha1.FluxJobRunning)
	}
	has(ofA.Name)
	assert.Equal(t, []string{a.Namespace}, managed().Namespaces)
	stopB := b.manageAs(ofB)
	for i := range 3 {
		b.submit(fmt.Sprintf("b%d", i), "true", inA)
	}
	refused := b.waitReason("b0", v1alpha1.ReasonQueueManagedElsewhere)
	assert.Equal(t, fmt.Sprintf("FluxSetup %q is managed by %s, which watches namespace %s, and not by %s, the manager of this job; "+
		"set spec.queue to a queue of its own, or let one manager watch the namespaces of all jobs of the queue",
		a.Namespace, ofA.Name, a.Namespace, ofB.Name),
		meta.FindStatusCondition(refused.Status.Conditions, v1alpha1.ConditionJobWaitingForResources).Message)
	b.OneEvent("b0", v1alpha1.ReasonQueueManagedElsewhere)
	a.Eventually("the request is declined", func() bool { return ptr.Deref(managed().Takeover, v1alpha1.FluxSetupTakeover{}).Declined })
	a.wait("a2", "a2 has kept its place", func(j *v1alpha1.FluxJob) bool { return ptr.Deref(j.Status.Position, 0) == 1 })

	stopA()
	stopB()
	ofB.TakeoverTimeout = time.Second // no one is there to decline
	stopB = b.manageAs(ofB)
	has(ofB.Name)
	assert.ElementsMatch(t, []string{"a0", "a1"}, held(), "the jobs of the manager that is gone run on")
	b.wait("b0", "b0 is in the line", func(j *v1alpha1.FluxJob) bool { return ptr.Deref(j.Status.Position, 0) == 1 })
	stopB()
	ofB.TakeoverTimeout = 0
	b.manageAs(ofB) // as the next leader of the same installation does
	b.wait("b0", "b0 is still in the line", func(j *v1alpha1.FluxJob) bool { return ptr.Deref(j.Status.Position, 0) == 1 })

	require.NoError(t, a.Client.Delete(t.Context(), a.job("a0")))
	a.manageAs(ofA)
	a.OneEvent("a2", v1alpha1.ReasonQueueManagedElsewhere)
	for _, name := range []string{"b0", "b1", "b2"} {
		b.waitState(name, v1alpha1.FluxJobSucceeded) // one after another: a1 has the other share
	}

	// The queue goes back to the manager that has jobs for it, whose a1 holds a share all the time.
	has(ofA.Name)
	a.waitState("a2", v1alpha1.FluxJobRunning)
	assert.Equal(t, v1alpha1.FluxJobRunning, a.job("a1").Status.State)
	assert.ElementsMatch(t, []string{"a1", "a2"}, held())
}
