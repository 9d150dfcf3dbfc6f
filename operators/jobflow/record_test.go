package jobflow

import (
	"testing"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/record/recordtest"
)

// Each pass of a flow that fails, with Jobs of a template, replays from its record.
func TestPassesReplay(t *testing.T) {
	scheme := testScheme(t)
	recorder := record.NewRecorder(1 << 20)
	flow := makeFlow(node("a"), node("b", "a"), nodeRef("c", "shared", "a"), node("d", "b", "c"), node("e"))
	buildertest.Settle(t, buildertest.Scenario{
		Scheme:   scheme,
		Options:  []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
		Objects:  []client.Object{flow, jobTemplate("shared"), world.Node("n1")},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(flow)}},
		Cluster: world.Cluster(world.Options{Pods: func(pod *corev1.Pod) world.Script {
			script := world.JobsSucceed(pod)
			if pod.Labels[batchv1.JobNameLabel] == "demo-c" {
				script.ExitCode = 1
			}
			return script
		}}),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil), recordtest.Client{Client: c, Recorder: recorder}, c.Now)
		},
	})
	assert.Greater(t, recordtest.Replay(t, recorder, Operator(nil), scheme), 2)
}
