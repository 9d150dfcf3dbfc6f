//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The API server can't reach the webhook. What runs goes on; with the failurePolicy that the chart sets, Ignore, what is
// applied is accepted unseen, and says itself what is wrong with it. With Fail it is refused. When the webhook is back, it judges again.
func TestWebhookDown(t *testing.T) {
	s := newFault(t)
	s.eventually("the webhook judges", func() error { return s.judged("before") })
	s.work()

	back := unreachable(t, "9443")
	bad := circle(s.name, "unseen")
	require.NoError(t, cluster.Create(t.Context(), bad))
	s.await("Stalled", "jobflow/unseen")
	require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(bad), bad))
	assert.Contains(t, fmt.Sprint(bad.Status.Conditions), "first -> second -> first")
	require.NoError(t, cluster.Create(t.Context(), twoSteps(s.name, "applied")))
	s.await("Succeeded", "jobflow/applied")
	s.requireWorkDone()

	running := twoSteps(s.name, "running")
	running.Spec.Flows[0].JobTemplate.Template = shell("sleep 5")
	require.NoError(t, cluster.Create(t.Context(), running))
	failurePolicy(t, "Fail")
	t.Cleanup(func() { failurePolicy(t, "Ignore") })
	s.eventually("refusals", func() error {
		err := cluster.Create(t.Context(), twoSteps(s.name, "refused"), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
			return fmt.Errorf("the answer is %w", err)
		}
		return nil
	})
	s.await("Succeeded", "jobflow/running") // no webhook is asked about Jobs, or a status

	back()
	s.eventually("the webhook judges again", func() error { return s.judged("after") })
	require.NoError(t, cluster.Create(t.Context(), twoSteps(s.name, "good")))
	s.await("Succeeded", "jobflow/good")
}

// circle is a flow that can't be carried out, for a reason that the CRD can't see.
func circle(namespace, name string) *v1alpha1.JobFlow {
	flow := twoSteps(namespace, name)
	flow.Spec.Flows[0].Dependencies = []string{"second"}
	return flow
}

// judged fails unless the webhook refuses a bad flow.
func (s *space) judged(name string) error {
	err := cluster.Create(s.Context(), circle(s.name, name), client.DryRunAll)
	if err == nil || !strings.Contains(err.Error(), "first -> second -> first") {
		return fmt.Errorf("the answer is %w", err)
	}
	return nil
}

func failurePolicy(t *testing.T, policy string) {
	t.Helper()
	configuration, err := kubectl("get", "validatingwebhookconfiguration", "armature", "--output", "jsonpath={.webhooks[*].name}")
	require.NoError(t, err)
	var patch []string
	for i := range strings.Fields(configuration) {
		patch = append(patch, fmt.Sprintf(`{"op": "replace", "path": "/webhooks/%d/failurePolicy", "value": %q}`, i, policy))
	}
	_, err = kubectl("patch", "validatingwebhookconfiguration", "armature", "--type=json", "--patch=["+strings.Join(patch, ",")+"]")
	require.NoError(t, err)
}

// unreachable refuses connections of the API server to a port of pods, until back is called, or the test ends. The suite runs
// in the cluster's network, as the API server does.
func unreachable(t *testing.T, port string) (back func()) {
	t.Helper()
	rule := func(do string) {
		out, err := exec.CommandContext(context.Background(), "iptables", "--wait", do, "OUTPUT", "--protocol", "tcp", "--dport", port,
			"--jump", "REJECT", "--reject-with", "tcp-reset").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	rule("--insert")
	down := true
	back = func() {
		if down {
			down = false
			rule("--delete")
		}
	}
	t.Cleanup(back)
	return back
}
