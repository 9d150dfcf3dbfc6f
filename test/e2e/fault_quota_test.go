//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// A quota is full: a flow waits for Jobs, and a ReplicaJob for pods. Both say so, ask again seldom, and go on when there is room.
// It is the namespace's own trouble, and so may happen beside others.
func TestFullQuota(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "tight"},
		Spec:       corev1.ResourceQuotaSpec{Hard: hard("2", "3")},
	}
	require.NoError(t, cluster.Create(t.Context(), quota))
	s.eventually("the quota counts", func() error {
		err := cluster.Get(t.Context(), client.ObjectKeyFromObject(quota), quota)
		if err == nil && len(quota.Status.Hard) < 2 {
			err = errors.New("it doesn't")
		}
		return err
	})
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "flow"}}
	for i := range 4 {
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{Name: fmt.Sprintf("node-%d", i), JobTemplate: &batchv1.JobSpec{Template: shell("sleep 1")}})
	}
	require.NoError(t, cluster.Create(t.Context(), flow))
	s.eventually("half of the flow", func() error { return s.succeeded(2) })
	train := &v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: "train"}}
	train.Spec.ReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
		"Worker": {Replicas: ptr.To[int32](4), Template: s.gated()}, // one that ended would make room for the next
	}
	require.NoError(t, cluster.Create(t.Context(), train))
	s.eventually("the flow says so", func() error {
		return s.saysQuota(flow, &flow.Status.Conditions, "exceeded quota: tight, requested: count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2")
	})
	s.eventually("the ReplicaJob says so", func() error {
		return s.saysQuota(train, &train.Status.Conditions, "exceeded quota: tight, requested: pods=1, used: pods=3, limited: pods=3")
	})
	s.requireRefusedSeldom()
	s.requireWarned("jobflow", "flow")
	s.requireWarned("replicajob", "train")

	roomy := quota.DeepCopy()
	roomy.Spec.Hard = hard("10", "10")
	require.NoError(t, cluster.Patch(t.Context(), roomy, client.MergeFrom(quota)))
	s.open()
	s.await("Succeeded", "jobflow/flow")
	s.await("Succeeded", "replicajob/train")
	s.requireOnce(4)
	s.requireNothingTwice()
}

func hard(jobs, pods string) corev1.ResourceList {
	return corev1.ResourceList{"count/jobs.batch": resource.MustParse(jobs), corev1.ResourcePods: resource.MustParse(pods)}
}

// succeeded fails unless so many Jobs have.
func (s *space) succeeded(want int) error {
	jobs := &batchv1.JobList{}
	if err := cluster.List(s.Context(), jobs, client.InNamespace(s.name)); err != nil {
		return err
	}
	got := 0
	for i := range jobs.Items {
		got += int(jobs.Items[i].Status.Succeeded)
	}
	if got != want {
		return fmt.Errorf("%d Jobs have succeeded, not %d", got, want)
	}
	return nil
}

// saysQuota fails unless the condition Ready of an object has the server's words.
func (s *space) saysQuota(obj client.Object, conditions *[]metav1.Condition, words string) error {
	if err := cluster.Get(s.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	ready := meta.FindStatusCondition(*conditions, events.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != events.ReasonApplyFailed || !strings.Contains(ready.Message, words) {
		return fmt.Errorf("it says: %+v", ready)
	}
	return nil
}

// requireRefusedSeldom fails if what is refused is asked for all the time. An owner backs off: from 5 ms on twice as long each
// time, up to a minute.
func (s *space) requireRefusedSeldom() {
	s.Helper()
	const seldom = 5 * time.Second
	for _, kind := range []string{"jobs.batch", "pods"} {
		s.eventually("managers ask seldom for "+kind, func() error {
			refused := s.refusals(kind)
			if len(refused) == 0 || time.Since(refused[len(refused)-1]) < seldom {
				return fmt.Errorf("there were refusals at %v", refused)
			}
			return nil
		})
	}
}

// refusals are when managers were forbidden something of a kind.
func (s *space) refusals(kind string) (at []time.Time) {
	s.Helper()
	for _, request := range s.requestsIn(s.name) {
		if request.ResponseStatus != nil && request.ResponseStatus.Code == http.StatusForbidden && resourceOf(request.ObjectRef) == kind &&
			isManager(request.User.Username) {
			at = append(at, request.StageTimestamp.Time)
		}
	}
	return at
}

// requireWarned fails unless there is a warning, and few different ones, about an object that names the quota.
func (s *space) requireWarned(kind, name string) {
	s.Helper()
	out, err := kubectl("get", "events", "--namespace", s.name, "--output", "jsonpath={range .items[*]}{.type} {.reason} {.involvedObject.kind} {.involvedObject.name}: {.message}{\"\\n\"}{end}")
	require.NoError(s, err)
	warnings := map[string]bool{} // of another leader, as each tells what it meets
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "Warning ") && strings.Contains(strings.ToLower(line), " "+kind+" "+name+": ") && strings.Contains(line, "exceeded quota: tight") {
			warnings[line] = true
		}
	}
	assert.NotEmpty(s, warnings, "no warning about %s %s in\n%s", kind, name, out)
	assert.LessOrEqual(s, len(warnings), 3, out)
}
