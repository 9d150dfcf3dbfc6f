package convert

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/replicajob"
)

// afterFailure returns the state of a job of which one pod has failed and the others run, before anything is made again.
func afterFailure(t require.TestingT, job *v1alpha1.ReplicaJob, failed string) v1alpha1.ReplicaJobState {
	job, pods := podsOf(t, job)
	for name, pod := range pods {
		pod.Status.Phase = corev1.PodRunning
		if name == failed {
			pod.Status.Phase = corev1.PodFailed
		}
	}
	plan := replicajob.ReplicaJobs.Plan(job, buildertest.NewView(testTime, objects(pods)...))
	require.NotNil(t, plan.Status)
	return plan.Status.Status.State
}

// TestRunsAsJobSet: whatever a JobSet says, the same pods run after the same, with the index that they had, the same of them
// decide on success, and a failure means the same; or a line says what differs.
func TestRunsAsJobSet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type rj struct{ jobs, pods, backoff int }
		names := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "types")]
		all, jobs := map[string]rj{}, []any{}
		inOrder := rapid.Bool().Draw(t, "in order")
		after := map[string]string{}
		for i, name := range names {
			r := rj{rapid.IntRange(1, 2).Draw(t, "jobs"), rapid.IntRange(1, 2).Draw(t, "pods"), rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "backoffLimit")}
			all[name] = r
			pod := map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}
			if policy := rapid.SampledFrom([]string{"", "OnFailure", "Never"}).Draw(t, "restartPolicy"); policy != "" {
				pod["restartPolicy"] = policy
			}
			job := map[string]any{"name": name, "replicas": r.jobs, "template": map[string]any{"spec": map[string]any{
				"parallelism": r.pods, "completions": r.pods, "backoffLimit": r.backoff, "template": map[string]any{"spec": pod}}}}
			if i > 0 && inOrder {
				after[name] = names[i-1] + " Ready"
			} else if i > 0 && rapid.Bool().Draw(t, "depends") {
				status := rapid.SampledFrom([]string{"Ready", "Complete"}).Draw(t, "status")
				job["dependsOn"] = []any{map[string]any{"name": names[0], "status": status}}
				after[name] = names[0] + " " + status
			}
			jobs = append(jobs, job)
		}
		spec := map[string]any{"replicatedJobs": jobs}
		if inOrder {
			spec["startupPolicy"] = map[string]any{"startupPolicyOrder": "InOrder"}
		}
		targets, operator := names, "All"
		if rapid.Bool().Draw(t, "a success policy") {
			operator = rapid.SampledFrom([]string{"All", "Any"}).Draw(t, "operator")
			policy := map[string]any{"operator": operator}
			if rapid.Bool().Draw(t, "targets") {
				targets = names[:1]
				policy["targetReplicatedJobs"] = targets
			}
			spec["successPolicy"] = policy
		}
		restarts := rapid.IntRange(0, 2).Draw(t, "maxRestarts")
		if restarts > 0 || rapid.Bool().Draw(t, "a failure policy") {
			spec["failurePolicy"] = map[string]any{"maxRestarts": restarts}
		}
		text, err := yaml.Marshal(map[string]any{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": map[string]any{"name": "j"}, "spec": spec})
		require.NoError(t, err)
		result, notes := converted(t, "f", text)
		isWell(t, result)
		job := &v1alpha1.ReplicaJob{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(result), job))
		said := strings.Join(notes, "\n")

		_, pods := podsOf(t, job)
		there := 0
		ended := map[string]bool{}
		complete := func(name string, i int, of func(string) bool) bool { // whether a Job is
			for p := range all[name].pods {
				if !of(fmt.Sprintf("j-%s-%d", name, i*all[name].pods+p)) {
					return false
				}
			}
			return true
		}
		for _, name := range names {
			r := all[name]
			there += r.jobs * r.pods
			for i := range r.jobs * r.pods {
				pod := fmt.Sprintf("j-%s-%d", name, i)
				require.Contains(t, pods, pod)
				ended[pod] = rapid.Bool().Draw(t, pod+" succeeded")
				if index, ok := environment(pods[pod].Spec.Containers[0].Env)["JOB_COMPLETION_INDEX"]; ok {
					require.Equal(t, fmt.Sprint(i%r.pods), index)
				} else {
					require.Contains(t, said, "JOB_COMPLETION_INDEX isn't set")
				}
			}
			on := ""
			for _, d := range job.Spec.ReplicaSpecs[v1alpha1.ReplicaType(name)].DependsOn {
				on = string(d.Type) + " " + string(d.Status)
			}
			require.Equal(t, after[name], on, name)
			if job.Spec.ReplicaSpecs[v1alpha1.ReplicaType(name)].RestartPolicy == v1alpha1.RestartOnFailure {
				require.NotNil(t, job.Spec.RunPolicy.BackoffLimit, "containers of %s restart without a limit\n%s", name, result)
			}
		}
		require.Len(t, pods, there)

		isOver := func(pod string) bool { return ended[pod] }
		some, every := false, true
		for _, name := range targets {
			for i := range all[name].jobs {
				done := complete(name, i, isOver)
				some, every = some || done, every && done
			}
		}
		want := map[string]bool{"All": every, "Any": some}[operator]
		if !strings.Contains(said, "is enough; there it was all pods of a Job") {
			require.Equal(t, want, succeedsWith(t, job, isOver), "%v\n%s", ended, result)
		}
		first := "j-" + names[0] + "-0"
		switch got := afterFailure(t, job, first); {
		case strings.Contains(said, "the first failure of a pod counts"):
		case all[names[0]].backoff > 0 || restarts > 0:
			require.Equal(t, v1alpha1.ReplicaJobRestarting, got, result)
		default:
			require.Equal(t, v1alpha1.ReplicaJobFailed, got, result)
		}
	})
}
