package jobflow

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

// run creates a JobFlow.
func (p *place) run(name string, spec v1alpha1.JobFlowSpec) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Create(p.T.Context(), &v1alpha1.JobFlow{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name}, Spec: spec,
	}))
}

// edit changes a flow's spec, as a user does.
func (p *place) edit(name string, change func(*v1alpha1.JobFlowSpec)) {
	p.T.Helper()
	p.RetryOnConflict("the edit is taken", func() error {
		flow := p.flow(name)
		change(&flow.Spec)
		return p.Client.Update(p.T.Context(), flow)
	})
}

func (p *place) job(name string) *batchv1.Job {
	p.T.Helper()
	job := &batchv1.Job{}
	p.Get(name, job)
	return job
}

// waitFlow waits until one of a JobFlow's flows is in a state.
func (p *place) waitFlow(name, flow string, state v1alpha1.FlowState) {
	p.T.Helper()
	p.wait(name, flow+" is "+string(state), func(f *v1alpha1.JobFlow) bool { return statesOf(f)[flow] == state })
}

func reasonOf(f *v1alpha1.JobFlow, kind string) string {
	if c := meta.FindStatusCondition(f.Status.Conditions, kind); c != nil && c.Status == metav1.ConditionTrue {
		return c.Reason
	}
	return ""
}

func TestSuspendedFlowsStopAndGoOn(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.run("s", v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", `test -n "$GO" || sleep 86400`), node("b", "true", "a")}})
	p.waitFlow("s", "a", v1alpha1.FlowRunning)
	p.edit("s", func(s *v1alpha1.JobFlowSpec) { s.Suspend = true })
	p.Eventually("the Job is suspended", func() bool {
		for _, c := range p.job("s-a").Status.Conditions {
			if c.Type == batchv1.JobSuspended && c.Status == "True" {
				return true
			}
		}
		return false
	})
	flow := p.wait("s", "it says so", func(f *v1alpha1.JobFlow) bool { return reasonOf(f, v1alpha1.ConditionSuspended) != "" })
	assert.Nil(t, flow.Status.ActiveSince)

	p.edit("s", func(s *v1alpha1.JobFlowSpec) { s.Suspend = false })
	p.Eventually("the Job is resumed", func() bool { return !*p.job("s-a").Spec.Suspend && p.job("s-a").Status.Active == 1 })
	assert.NotContains(t, p.job("s-a").Annotations, jobflow.AnnotationSuspended)
	p.OneEvent("s", v1alpha1.ReasonSuspended)
	p.OneEvent("s", v1alpha1.ReasonResumed)
}

func TestAJobThatSomeoneDeletesIsMadeAgainOnceItsPodsHaveEnded(t *testing.T) {
	p := newPlace(t)
	p.manage()
	dir := t.TempDir()
	trapped, end := filepath.Join(dir, "trapped"), filepath.Join(dir, "end")
	deaf := node("a", "trap '"+harness.ScriptUntil(end)+"; exit 1' TERM; touch "+trapped+"; while :; do sleep 0.1; done")
	deaf.JobTemplate.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](24 * 3600)
	p.run("again", v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{deaf}})
	traps := func() bool {
		_, err := os.Stat(trapped)
		return err == nil
	}
	p.Eventually("the script traps the signal", traps)
	p.waitFlow("again", "a", v1alpha1.FlowRunning)
	pod, first := p.pods("again")["a"], p.job("again-a")
	require.NoError(t, p.Client.Delete(t.Context(), first, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	flow := p.wait("again", "it waits, and says so", func(f *v1alpha1.JobFlow) bool {
		return meta.FindStatusCondition(f.Status.Conditions, "Ready").Reason == v1alpha1.ReasonPodsTerminating
	})
	assert.Equal(t, "waits for pod "+pod.Name+" of an earlier Job to end", flow.Status.Flows[0].Message)
	assert.Empty(t, p.Jobs())
	require.NoError(t, os.Remove(trapped))
	require.NoError(t, os.WriteFile(end, nil, 0o600))
	p.Eventually("there is another Job", func() bool {
		var job batchv1.Job
		return p.Client.Get(t.Context(), client.ObjectKeyFromObject(first), &job) == nil && job.UID != first.UID
	})
	var old corev1.Pod
	if err := p.Client.Get(t.Context(), client.ObjectKeyFromObject(&pod), &old); !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		assert.Equal(t, corev1.PodFailed, old.Status.Phase)
	}
	p.waitFlow("again", "a", v1alpha1.FlowRunning)
	p.Eventually("its script writes no more into the directory", traps)
}

func TestTerminatedFlowsEnd(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.run("t", v1alpha1.JobFlowSpec{
		Flows:   []v1alpha1.Flow{node("a", "sleep 86400"), node("b", "true", "a")},
		Finally: []v1alpha1.Flow{node("last", `echo "$FLOW_STATUS $FLOW_FAILED"`)},
	})
	p.waitFlow("t", "a", v1alpha1.FlowRunning)
	p.edit("t", func(s *v1alpha1.JobFlowSpec) { s.Terminate = true })
	flow := p.waitState("t", v1alpha1.StateFailed)
	assert.Equal(t, map[string]v1alpha1.FlowState{"a": "Failed", "b": "Skipped", "last": "Succeed"}, statesOf(flow))
	assert.Equal(t, v1alpha1.ReasonTerminated, reasonOf(flow, v1alpha1.ConditionFailed))
	assert.Equal(t, []string{"t-last"}, p.Jobs(), "the active Job was deleted")
	assert.Equal(t, "Failed a", p.Logs("job/t-last"))
}

func TestAFlowsDeadlineHoldsWhileNoOneIsThere(t *testing.T) {
	p := newPlace(t)
	stop := p.manage()
	p.run("d", v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", "sleep 86400")}, ActiveDeadlineSeconds: ptr.To[int64](3600)})
	p.waitFlow("d", "a", v1alpha1.FlowRunning)
	stop()
	p.edit("d", func(s *v1alpha1.JobFlowSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](1) }) // not before: it may take longer to start
	since := p.flow("d").Status.ActiveSince
	require.NotNil(t, since)
	p.Eventually("the deadline has passed", func() bool { return metav1.Now().Sub(since.Time).Seconds() > 1 })
	p.manage()
	flow := p.waitState("d", v1alpha1.StateFailed)
	assert.Equal(t, v1alpha1.ReasonDeadlineExceeded, reasonOf(flow, v1alpha1.ConditionFailed))
	assert.Empty(t, p.Jobs())
}

func TestWhatIsLeftOfAFlow(t *testing.T) {
	p := newPlace(t)
	p.manage()
	flows := []v1alpha1.Flow{node("good", "true"), node("bad", "exit 1")}
	p.run("failed", v1alpha1.JobFlowSpec{Flows: flows, JobRetention: v1alpha1.RetainFailed})
	p.run("none", v1alpha1.JobFlowSpec{Flows: flows, JobRetention: v1alpha1.RetainNone})
	p.run("gone", v1alpha1.JobFlowSpec{Flows: flows, TTLSecondsAfterFinished: ptr.To[int32](0)})
	p.waitState("failed", v1alpha1.StateFailed)
	p.waitState("none", v1alpha1.StateFailed)
	p.Eventually("one Job is left", func() bool { names := p.Jobs(); return len(names) == 1 && names[0] == "failed-bad" })
	err := p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "gone"}, &v1alpha1.JobFlow{})
	assert.True(t, apierrors.IsNotFound(err), "%v", err)
}

func TestEditsOfAFlowUnderWay(t *testing.T) {
	p := newPlace(t)
	p.manage()
	marker := filepath.Join(t.TempDir(), "go-on")
	p.run("e", v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", harness.ScriptUntil(marker)), node("b", "echo before", "a"), node("c", "true", "a")}})
	p.waitFlow("e", "a", v1alpha1.FlowRunning)
	p.edit("e", func(s *v1alpha1.JobFlowSpec) {
		s.Flows = []v1alpha1.Flow{node("new", "echo new", "b"), node("a", "echo too late"), node("b", "echo after", "a")}
	})
	flow := p.wait("e", "it is refused", func(f *v1alpha1.JobFlow) bool { return reasonOf(f, v1alpha1.ConditionEditRefused) != "" })
	assert.Contains(t, meta.FindStatusCondition(flow.Status.Conditions, v1alpha1.ConditionEditRefused).Message,
		`flow "a": spec.flows[1].jobTemplate: Forbidden: it has been started`)
	require.NoError(t, os.WriteFile(marker, nil, 0o600))
	p.waitState("e", v1alpha1.StateSucceed)
	assert.Equal(t, "after", p.Logs("job/e-b"))
	assert.Equal(t, "new", p.Logs("job/e-new"))
	assert.ElementsMatch(t, []string{"e-a", "e-b", "e-new"}, p.Jobs())
	p.OneEvent("e", v1alpha1.ReasonEditRefused)
}

// Nothing lets the Job controller record that a Job has completed before the test has seen what happens without it.
func TestSuccessorsDoNotWaitForTheJobController(t *testing.T) {
	p := newPlace(t)
	p.manage()
	completes := p.holdCompletions()
	for name, end := range map[string]v1alpha1.EndOfJob{"early": v1alpha1.EndOfJobPods, "late": v1alpha1.EndOfJobCondition} {
		p.run(name, v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", "true"), node("b", "true", "a")}, EndOfJob: end})
	}
	p.Eventually("both first pods have ended", func() bool {
		return p.pods("early")["a"].Status.Phase == corev1.PodSucceeded && p.pods("late")["a"].Status.Phase == corev1.PodSucceeded
	})
	p.Eventually("the early successor has run", func() bool { return p.pods("early")["b"].Status.Phase == corev1.PodSucceeded })
	assert.Equal(t, []string{"early-a", "early-b", "late-a"}, p.Jobs())
	for _, name := range p.Jobs() {
		assert.Nil(t, p.job(name).Status.CompletionTime, name)
	}
	completes()
	p.waitState("early", v1alpha1.StateSucceed)
	p.waitState("late", v1alpha1.StateSucceed)
}

// holdCompletions refuses a completion time in the status of the namespace's Jobs, until the returned function is called or the test ends.
func (p *place) holdCompletions() (release func()) {
	p.T.Helper()
	meta := metav1.ObjectMeta{Name: p.Namespace}
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicySpec{
		MatchConstraints: &admissionv1.MatchResources{
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": p.Namespace}},
			ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs/status"}},
			}}},
		},
		Validations: []admissionv1.Validation{{Expression: "!has(object.status.completionTime)"}},
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta, Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}}
	require.NoError(p.T, p.Client.Create(p.T.Context(), policy))
	require.NoError(p.T, p.Client.Create(p.T.Context(), binding))
	release = sync.OnceFunc(func() {
		for _, obj := range []client.Object{binding, policy} {
			assert.NoError(p.T, p.Client.Delete(context.Background(), obj))
		}
	})
	p.T.Cleanup(release)

	trial := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "trial"}, Spec: *node("", "").JobTemplate}
	trial.Spec.Suspend, trial.Spec.Template.Spec.RestartPolicy = new(true), corev1.RestartPolicyNever
	require.NoError(p.T, p.Client.Create(p.T.Context(), trial))
	p.Eventually("completions are refused", func() bool {
		now := metav1.Now()
		p.Get(trial.Name, trial)
		trial.Status.StartTime, trial.Status.CompletionTime = &now, &now
		trial.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuccessCriteriaMet, Status: corev1.ConditionTrue},
			{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
		err := p.Client.Status().Update(p.T.Context(), trial, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), policy.Name)
	})
	require.NoError(p.T, p.Client.Delete(p.T.Context(), trial, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	return release
}
