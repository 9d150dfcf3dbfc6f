package builder_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

var phaseNames = []string{"controller", "broker", "server"}

// phasedPlan wants a Deployment in each phase that the widget's data names an image for.
func phasedPlan(owner *Widget, _ builder.View) builder.Plan[*Widget] {
	p := builder.Plan[*Widget]{Rollout: rollout.Options{Phases: phaseNames}, Report: true, Prune: []client.Object{&appsv1.Deployment{}}}
	if owner.Spec.Data["impatient"] != "" {
		p.Rollout.RollbackAfter = 3 * time.Second
	}
	for _, name := range slices.Backward(phaseNames) {
		if image := owner.Spec.Data[name]; image != "" {
			p.Children = append(p.Children, builder.Want(phaseDeployment(name, image), builder.InPhase(name)))
		}
	}
	return p
}

// phaseDeployment is one whose pods a test makes ready. Only of a bad image the cluster soon says that there is no progress.
func phaseDeployment(name, image string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	deadline := int32(600)
	if image == "bad" {
		deadline = 1
	}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			ProgressDeadlineSeconds: new(deadline),
			Selector:                &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					TerminationGracePeriodSeconds: ptr.To[int64](0),
					Containers:                    []corev1.Container{{Name: "main", Image: "example.com/app:" + image}},
				},
			},
		},
	}
}

// phased is an operated widget with phases. The cluster has no nodes: the test says which pods run.
type phased struct{ *operated }

func operatePhases(t *testing.T, data map[string]string) *phased {
	return &phased{operate(t, phasedPlan, &Widget{Spec: WidgetSpec{Data: data}})}
}

func images(image string) map[string]string {
	return map[string]string{"controller": image, "broker": image, "server": image}
}

// run makes the pods of these phases ready, unless their image is bad, as a kubelet would.
func (o *phased) run(phases ...string) {
	var pods corev1.PodList
	require.NoError(o.t, o.live.List(o.ctx, &pods, client.InNamespace(o.ns)))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !slices.Contains(phases, pod.Labels["app"]) || pod.Status.Phase == corev1.PodRunning || strings.HasSuffix(pod.Spec.Containers[0].Image, ":bad") {
			continue
		}
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		_ = o.live.Status().Update(o.ctx, pod) // it may be gone; the next call sees
	}
}

// running lists the images by phase; "-" is none.
func (o *phased) running() string {
	var list appsv1.DeploymentList
	require.NoError(o.t, o.live.List(o.ctx, &list, client.InNamespace(o.ns)))
	found := []string{"-", "-", "-"}
	for _, d := range list.Items {
		_, found[slices.Index(phaseNames, d.Name)], _ = strings.Cut(d.Spec.Template.Spec.Containers[0].Image, ":")
	}
	return strings.Join(found, " ")
}

func (o *phased) want(change map[string]string) {
	o.change(func(w *Widget) {
		maps.Copy(w.Spec.Data, change)
	})
}

func (o *phased) reason() string {
	if c := o.condition(events.ConditionReady); c != nil && c.ObservedGeneration == o.get(o.widget).GetGeneration() {
		return c.Reason
	}
	return ""
}

// until runs the pods of these phases until the condition Ready has the reason.
func (o *phased) until(reason string, phases ...string) {
	o.t.Helper()
	o.eventually(func() bool {
		o.run(phases...)
		return o.reason() == reason
	}, "the reason %s", reason)
}

// stuck says that the Deployment of a phase has told of the pod with its last template, and after that has seen no progress for its
// deadline. A deadline that passes before it has told of the pod is lifted again when it does.
func (o *phased) stuck(phase string) bool {
	d := o.get(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: phase}}).(*appsv1.Deployment)
	return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedReplicas == 1 &&
		slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded"
		})
}

func (o *phased) revisions() (names []string) {
	var list appsv1.ControllerRevisionList
	require.NoError(o.t, o.live.List(o.ctx, &list, client.InNamespace(o.ns)))
	for _, r := range list.Items {
		names = append(names, r.Name)
	}
	return names
}

func TestPhasesAreInstalledTogetherAndUpgradedInOrder(t *testing.T) {
	o := operatePhases(t, images("v1"))
	o.eventually(func() bool { return o.running() == "v1 v1 v1" }, "all phases, though no pod runs")
	o.until(events.ReasonReady, phaseNames...)
	assert.Len(t, o.revisions(), 1)
	o.settled()

	o.want(images("v2"))
	o.until(events.ReasonRollingOut)
	assert.Equal(t, "v2 v1 v1", o.running())
	assert.Contains(t, o.condition(events.ConditionReady).Message, "phase controller: waiting for Deployment.apps "+o.ns+"/controller")
	o.eventually(func() bool { o.run("controller"); return o.running() == "v2 v2 v1" }, "the broker's turn")
	o.eventually(func() bool { o.run("broker"); return o.running() == "v2 v2 v2" }, "the server's turn")
	o.until(events.ReasonReady, phaseNames...)
	assert.Len(t, o.revisions(), 2)
	o.settled()
	o.eventually(func() bool { return o.heard("RolloutCompleted") == 2 && o.heard("RolloutStarted") == 1 }, "the events")
}

func TestAFailedPhaseHaltsTheRollout(t *testing.T) {
	o := operatePhases(t, images("v1"))
	o.until(events.ReasonReady, phaseNames...)

	o.want(map[string]string{"broker": "bad", "server": "v2"})
	o.eventually(func() bool { o.run(phaseNames...); return o.stuck("broker") }, "no progress of the pod with the bad image")
	o.eventually(func() bool { // for good: nothing of the Deployment will change any more
		stalled := o.condition(events.ConditionStalled)
		return o.reason() == events.ReasonRolloutHalted && stalled.Status == metav1.ConditionTrue &&
			strings.Contains(stalled.Message, "broker: ProgressDeadlineExceeded")
	}, "the halt, and what stalled it")
	assert.Equal(t, "v1 bad v1", o.running())

	server := o.get(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "server"}})
	require.NoError(t, o.live.Delete(o.ctx, server))
	o.eventually(func() bool { return o.running() == "v1 bad v1" }, "what was deleted, as it was before")
	o.eventually(func() bool { o.run(phaseNames...); return o.reason() == events.ReasonRolloutHalted }, "the halt")
	o.settled()

	o.want(map[string]string{"broker": "v2"})
	o.until(events.ReasonReady, phaseNames...)
	assert.Equal(t, "v1 v2 v2", o.running())
}

func TestAFailedRolloutIsRolledBack(t *testing.T) {
	o := operatePhases(t, images("v1"))
	o.until(events.ReasonReady, phaseNames...)

	o.want(map[string]string{"impatient": "yes", "broker": "bad", "server": "v2"})
	o.until(events.ReasonRolledBack, phaseNames...)
	o.eventually(func() bool { return o.running() == "v1 v1 v1" }, "what was before")
	assert.Equal(t, "bad", o.get(o.widget).(*Widget).Spec.Data["broker"], "the owner is never edited")
	o.eventually(func() bool { return o.heard("RolledBack") == 1 }, "the event")
	o.eventually(func() bool {
		o.run(phaseNames...)
		return o.condition(events.ConditionProgressing).Status == metav1.ConditionFalse
	}, "it to be over")
	o.settled()
	assert.Equal(t, "v1 v1 v1", o.running(), "it isn't tried again")

	o.stop() // another process knows as much
	o.start(phasedPlan)
	o.poke()
	o.settled()
	assert.Equal(t, "v1 v1 v1", o.running())

	o.want(map[string]string{"impatient": "", "broker": "v2"})
	o.until(events.ReasonReady, phaseNames...)
	assert.Equal(t, "v1 v2 v2", o.running())
	assert.Len(t, o.revisions(), 2)
}
