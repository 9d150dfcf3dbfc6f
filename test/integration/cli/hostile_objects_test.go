package cli

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/testcluster"
)

// hostile clears the screen, rings, moves the cursor, turns a text round, and begins lines and columns of its own.
const hostile = "a\x1b[2J\x1b]0;t\a\r\u009b1A\u202etxt\u2066\u2028b\tFORGED\nFORGED\r\n  FORGED  Succeeded\n└─ FORGED/pod  Running"

// forged is a line that an object has made up.
var forged = regexp.MustCompile(`(?m)^[\s│├└─|]*FORGED`)

// Objects whose messages, reasons, annotations and output are hostile: no command lets them control the terminal or make up a line.
// Names and labels can't hold such characters, but all that follows can.
func TestHostileObjects(t *testing.T) {
	p := connect(t) // a manager would put the status right
	flow := p.hostileFlow("h")
	p.hostilePod("h-a-x", flow)
	widget := p.hostileWidget("w")
	p.hostilePod("w-x", widget)
	p.hostileQueue()
	p.create(&eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: "h"}, EventTime: metav1.NowMicro(), Type: corev1.EventTypeWarning,
		Reason: "FailedCreate", Action: "A",
		ReportingController: "example.com/test", ReportingInstance: "test", Note: hostile,
		Regarding: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: "h-a-x"},
	})
	p.talkingPod("talk")

	said := 0
	for _, args := range []string{
		"explain jf/h", "explain jf/h a", "explain widget/w", "explain fj/waits", "explain pod/h-a-x",
		"tree jf/h", "tree jf/h -o wide", "tree jf/h -o name", "tree widget/w", "tree fj/waits",
		"queue", "queue " + p.Namespace + " -o wide", "queue -o name", "watch jf/h",
		"explain pod/talk", "logs pod/talk", "logs pod/talk --timestamps",
		"graph jf/h", "graph jf/h -o dot", "graph jf/h -o mermaid", "graph jf/h -o svg",
	} {
		out, errs, _ := p.armature(strings.Split(args, " ")...)
		all := out + errs
		if strings.Contains(all, "FORGED") {
			said++
		}
		assert.NotContains(t, all, "panic", args)
		for _, r := range all {
			if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)) {
				assert.Fail(t, "a control character", "%s: %U in %q", args, r, all)
				break
			}
		}
		if !strings.HasPrefix(args, "graph") { // a picture has its texts in several lines, none of which means anything
			assert.NotRegexp(t, forged, all, args)
		}
	}
	assert.Greater(t, said, 8, "the texts are shown")
	for _, command := range []string{"explain jf/h", "tree jf/h", "tree widget/w", "queue"} {
		out, _, _ := p.armature(append(strings.Split(command, " "), "-o", "json")...)
		assert.NoError(t, json.Unmarshal([]byte(out), new(any)), command)
		out, _, _ = p.armature(append(strings.Split(command, " "), "-o", "yaml")...)
		assert.NoError(t, yaml.Unmarshal([]byte(out), new(any)), command)
	}
}

func hostileConditions(kinds ...string) (all []metav1.Condition) {
	for _, kind := range kinds {
		all = append(all, metav1.Condition{
			Type: kind, Status: metav1.ConditionTrue, Reason: "Hostile", Message: hostile, LastTransitionTime: metav1.Now(), ObservedGeneration: 1,
		})
	}
	return all
}

// hostileFlow makes a flow that says of itself that it has failed, and returns a reference to it.
func (p *place) hostileFlow(name string) metav1.OwnerReference {
	p.T.Helper()
	flow := flowOf(name, node("a", "true"), node("b", "true", "a"))
	flow.Annotations = map[string]string{"example.com/note": hostile}
	p.create(flow)
	flow.Status = v1alpha1.JobFlowStatus{
		State: v1alpha1.StateFailed, ObservedGeneration: flow.Generation, Conditions: hostileConditions(events.ConditionStalled),
		Flows: []v1alpha1.FlowStatus{{Name: "a", State: v1alpha1.FlowFailed, Message: hostile}},
	}
	require.NoError(p.T, p.Client.Status().Update(p.T.Context(), flow))
	return *metav1.NewControllerRef(flow, v1alpha1.GroupVersion.WithKind("JobFlow"))
}

// hostilePod makes a pod that no scheduler takes, and says of it what a kubelet says of one that has failed.
func (p *place) hostilePod(name string, owner metav1.OwnerReference) {
	p.T.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, OwnerReferences: []metav1.OwnerReference{owner}, Annotations: map[string]string{"example.com/note": hostile},
			Labels: map[string]string{jobflow.LabelJobFlow: "h", jobflow.LabelFlow: "a"},
		},
		Spec: corev1.PodSpec{SchedulerName: "none", Containers: []corev1.Container{{Name: "main", Image: "busybox:1.28"}}},
	}
	p.create(pod)
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Reason: hostile, Message: hostile}}
	pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodFailed, hostile, hostile
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: ended, LastTerminationState: ended}}
	require.NoError(p.T, p.Client.Status().Update(p.T.Context(), pod))
}

// hostileWidget makes an object of a kind that may say anything of its state, and returns a reference to it.
func (p *place) hostileWidget(name string) metav1.OwnerReference {
	p.T.Helper()
	testcluster.InstallCRDs(p.T, "test/integration/builder/testdata/crd")
	widget := &unstructured.Unstructured{}
	widget.SetAPIVersion("test.armature.dev/v1")
	widget.SetKind("Widget")
	widget.SetName(name)
	p.create(widget)
	widget.Object["status"] = map[string]any{
		"phase": hostile, "state": hostile, "message": hostile,
		"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": hostile, "message": hostile}},
	}
	require.NoError(p.T, p.Client.Status().Update(p.T.Context(), widget))
	return metav1.OwnerReference{APIVersion: "test.armature.dev/v1", Kind: "Widget", Name: name, UID: widget.GetUID()}
}

// hostileQueue makes a queue, and a job that waits in it.
func (p *place) hostileQueue() {
	p.T.Helper()
	p.createQueue(p.Namespace)
	job := fluxJob("waits", p.Namespace, 1)
	p.create(job)
	job.Status.State, job.Status.ObservedGeneration = v1alpha1.FluxJobWaiting, job.Generation
	job.Status.Conditions = hostileConditions(v1alpha1.ConditionJobWaitingForResources)
	require.NoError(p.T, p.Client.Status().Update(p.T.Context(), job))
}

// talkingPod makes a pod that prints the text, and waits for its end.
func (p *place) talkingPod(name string) {
	p.T.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", `printf '%s\n' "$TEXT"; exit 3`},
			Env: []corev1.EnvVar{{Name: "TEXT", Value: hostile}}, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		}}},
	}
	p.create(pod)
	p.Eventually("the pod has ended", func() bool {
		p.Get(name, pod)
		return pod.Status.Phase == corev1.PodFailed
	})
}
