package manager

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 90 * time.Second

func node(name, script string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: &batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", script},
		}}}},
	}}
}

func managerArgs(t *testing.T, namespace string) []string {
	return []string{"manager", "--kubeconfig", testcluster.Kubeconfig(t),
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect-namespace", namespace,
		"--leader-elect-lease-duration=2h", "--leader-elect-renew-deadline=1h"} // it leads also after the machine was busy for long
}

// A manager that is killed in the middle of a flow, and started again, ends the flow as if nothing had happened. One that is stopped
// releases its lease, and doesn't log that as a loss.
func TestKilledManagerEndsTheFlowTheSame(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
	c, namespace := p.Client, p.Namespace
	created := harness.CountCreations(t, c, namespace)
	end := filepath.Join(t.TempDir(), "end")

	flow := &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "killed"},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{
			node("a", "true"), node("b", harness.ScriptUntil(end), "a"), node("c", "true", "a", "b"), node("d", "true", "b"), node("e", "true", "c", "d"),
		}},
	}
	first := binary.Start(t, managerArgs(t, namespace)...)
	require.NoError(t, c.Create(t.Context(), flow))
	waitFor(t, c, flow, "b runs", func() bool { return stateOf(flow, "b") == v1alpha1.FlowRunning })
	first.Kill()

	// b ends while there is no manager. The new one takes over when the dead one's lease has run out.
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	second := binary.Start(t, managerArgs(t, namespace)...)
	p.ExpireLease(namespace, "armature-manager")
	waitFor(t, c, flow, "the flow succeeds", func() bool { return flow.Status.State == v1alpha1.StateSucceed })

	assert.Equal(t, map[string]int{"killed-a": 1, "killed-b": 1, "killed-c": 1, "killed-d": 1, "killed-e": 1},
		created.ByName(), "each Job was created once")
	second.Stop()
	assert.NotContains(t, second.Log.String(), "leader election lost")
}

func stateOf(flow *v1alpha1.JobFlow, name string) v1alpha1.FlowState {
	for _, f := range flow.Status.Flows {
		if f.Name == name {
			return f.State
		}
	}
	return ""
}

func waitFor(t *testing.T, c client.Client, flow *v1alpha1.JobFlow, what string, done func() bool) {
	t.Helper()
	harness.Eventually(t, patience, what, func() bool {
		return c.Get(context.Background(), client.ObjectKeyFromObject(flow), flow) == nil && done()
	}, func() any { return flow.Status })
}

// armature watch follows a flow to its end, says each change, and tells by its exit code how it ended.
func TestWatch(t *testing.T) {
	testcluster.InstallCRDs(t, "config/crd")
	c, namespace := testcluster.Client(t, v1alpha1.AddToScheme), testcluster.Namespace(t)
	binary.Start(t, managerArgs(t, namespace)...)
	good := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "good"},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", "true"), node("b", "true", "a")}}}
	bad := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bad"},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", "exit 3"), node("b", "true", "a")}}}
	require.NoError(t, c.Create(t.Context(), good))
	require.NoError(t, c.Create(t.Context(), bad))

	watchFlow := func(name string) (string, error) {
		out, err := exec.CommandContext(t.Context(), binary.Path(t), "watch", "--kubeconfig", testcluster.Kubeconfig(t), "-n", namespace, "jobflow/"+name).CombinedOutput()
		return string(out), err
	}
	out, err := watchFlow("good")
	require.NoError(t, err, out)
	assert.Contains(t, out, "jobflow good is Succeed, 2/2")

	out, err = watchFlow("bad")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, out)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Contains(t, out, "jobflow bad is Failed, 0/2, 1 failed, 1 skipped")
	assert.Contains(t, out, "Skipped")

	out, err = watchFlow("missing")
	require.ErrorAs(t, err, &exit)
	assert.Contains(t, out, `jobflows.api.practice.com "missing" not found`)
}

// A manager that has no cluster says which one it looked for.
func TestManagerSaysThatItCannotReachACluster(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), binary.Path(t), "manager", "--kubeconfig", "/does/not/exist").CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Contains(t, string(out), "/does/not/exist")
}
