package replicajob

import (
	"encoding/json"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	simulated "github.com/armature-dev/armature/builder/buildertest/world"
)

// A pod that lost its controller is taken over, wherever the process crashes.
func TestCrashInAJobThatTakesOverPods(t *testing.T) {
	job := makeJob(replicas("Worker", 3), success("AllWorkers"))
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	scenario := simulated.ScenarioOf(ReplicaJobs.Operator, job, scheme, buildertest.WithStatusSubresource(job))
	scenario.Objects = append(scenario.Objects, orphanOf(job, ReplicaJobs.Name))
	scenario.Foreign = func(client.Object) bool { return false }
	scenario.Cluster = simulated.Cluster(simulated.Options{Pods: func(*corev1.Pod) simulated.Script { return simulated.Script{Ends: true} }})
	for _, lag := range []int{0, 1, 3} {
		t.Run("lag "+strconv.Itoa(lag), func(t *testing.T) {
			scenario.Lag, scenario.LagOwnWrites = lag, lag > 1
			buildertest.CrashEverywhere(t, scenario)
		})
	}
	scenario.Lag, scenario.LagOwnWrites = 0, false
	found := &v1alpha1.ReplicaJob{}
	require.NoError(t, buildertest.Settle(t, scenario).Client("test").Get(t.Context(), client.ObjectKeyFromObject(job), found))
	require.Equal(t, v1alpha1.ReplicaJobSucceeded, found.Status.State)
}

// orphanOf is the second pod of a job, as a field manager has created it, and without a controller.
func orphanOf(job *v1alpha1.ReplicaJob, manager string) *corev1.Pod {
	pod := podsOf(job)[1].(*corev1.Pod)
	labels := map[string]any{}
	for name := range pod.Labels {
		labels["f:"+name] = map[string]any{}
	}
	fields, err := json.Marshal(map[string]any{"f:metadata": map[string]any{"f:labels": labels}})
	if err != nil {
		panic(err)
	}
	pod.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(string(fields)), Time: new(metav1.NewTime(epoch)),
	}}
	return pod
}

// Who may create jobs, and no pods, gets no one's pod by a job that has its name and its labels.
func TestAPodThatSomeoneElseHasLabelledIsNoReplica(t *testing.T) {
	job := makeJob(replicas("Worker", 3))
	victim := orphanOf(job, "kubectl-create")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	server := buildertest.NewServer(scheme, buildertest.WithStatusSubresource(job), buildertest.WithObjects(job, victim))
	c := server.Client("test")
	r, err := buildertest.NewReconciler(ReplicaJobs.Operator(nil), c, c.Now)
	require.NoError(t, err)
	request := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(job)}
	for range 5 { // more than it takes until nothing changes
		_, err = r.Reconcile(t.Context(), request)
	}
	require.ErrorIs(t, err, builder.ErrNotOwned)
	require.NoError(t, c.Get(t.Context(), request.NamespacedName, job))
	require.Equal(t, "NotOwned", meta.FindStatusCondition(job.Status.Conditions, "Ready").Reason)
	require.NoError(t, c.Delete(t.Context(), job))
	_, err = r.Reconcile(t.Context(), request)
	require.NoError(t, err)
	server.CollectGarbage()
	found := &corev1.Pod{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(victim), found), "it is there still")
	require.Empty(t, found.OwnerReferences)
}
