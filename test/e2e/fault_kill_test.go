//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Managers are killed at random for so long, and so often at least, for which there is so long at most; then there must be peace for the work to end.
const (
	killFor   = 30 * time.Second
	killTimes = 20
	killMost  = 2 * time.Minute
)

// One of the managers is killed each second, at a random moment of it: half of them without a word of farewell, the others
// as by an impatient kubectl delete. There are four, so that now and then one lives long enough to lead and to be killed at it.
func TestManagersKilledEachSecond(t *testing.T) {
	s := newFault(t)
	scaleManagers(t, 4)
	t.Cleanup(func() { scaleManagers(t, 2) })
	s.awaitManagers()
	s.work()
	killed := s.killManagers(rand.New(rand.NewPCG(1, 2)))
	s.requireWorkDone()
	s.requireOnlyLeadersWrote()
	t.Logf("%d managers were killed; %d of them had written", killed, len(s.writers()))
}

// killManagers kills one of the managers' pods, again and again, and returns how many.
func (s *space) killManagers(random *rand.Rand) (killed int) {
	s.Helper()
	begin := time.Now()
	for killed < killTimes || time.Since(begin) < killFor {
		require.Less(s, time.Since(begin), killMost, "only %d could be killed", killed)
		pause := 500*time.Millisecond + time.Duration(random.IntN(1000))*time.Millisecond
		farewell, which := random.IntN(2) == 0, random.IntN(1000)
		time.Sleep(pause)
		pods, err := managers(s.Context())
		if err != nil || len(pods) == 0 {
			continue
		}
		victim := &pods[which%len(pods)]
		if farewell {
			err = cluster.Delete(s.Context(), victim, client.GracePeriodSeconds(0))
		} else {
			err = crash(s.Context(), victim)
		}
		if err != nil {
			s.Logf("kill %s: %v", victim.Name, err)
			continue
		}
		killed++
	}
	return killed
}

// writers are the managers' pods that wrote to the namespace.
func (s *space) writers() map[string]bool {
	s.Helper()
	pods := map[string]bool{}
	for _, w := range s.history() {
		if w.byOperator() && w.pod != "" {
			pods[w.pod] = true
		}
	}
	return pods
}

// The leader crashes as soon as it has taken the lease, in the middle of its first passes, again and again.
func TestLeaderKilledAgainAndAgain(t *testing.T) {
	const times = 6
	s := newFault(t)
	var killed []string
	for i := range times {
		require.NoError(t, cluster.Create(t.Context(), twoSteps(s.name, fmt.Sprintf("round-%d", i))))
		next := s.awaitLeader(killed...)
		require.NoError(t, crash(context.Background(), next.pod))
		killed = append(killed, next.pod.Name)
	}
	for i := range times {
		s.await("Succeeded", fmt.Sprintf("jobflow/round-%d", i))
	}
	s.requireOnlyLeadersWrote()
	s.requireOnce(2 * times)
	for i := range times {
		s.requireOrder(fmt.Sprintf("round-%d-first", i), fmt.Sprintf("round-%d-second", i))
	}
}

// twoSteps is a flow of two nodes, one after the other.
func twoSteps(namespace, name string) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{
			{Name: "first", JobTemplate: &batchv1.JobSpec{Template: shell("true")}},
			{Name: "second", JobTemplate: &batchv1.JobSpec{Template: shell("true")}, Dependencies: []string{"first"}},
		}},
	}
}
