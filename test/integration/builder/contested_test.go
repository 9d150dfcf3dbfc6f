package builder_test

import (
	"math/bits"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// version is the plan of one version of a program: the same Deployment with another image, and a ConfigMap.
func version(image string) builder.PlanFunc[*Widget] {
	return func(owner *Widget, _ builder.View) builder.Plan[*Widget] {
		d := webDeployment()
		d.Spec.Replicas = ptr.To[int32](0)
		d.Spec.Template.Spec.Containers[0].Image = image
		return builder.Plan[*Widget]{
			Children: []builder.Child{builder.Want(d), builder.Want(configMap("beside", "of", owner.Spec.Source))}, Report: true,
		}
	}
}

// Two versions of one program write as the same field manager: they made 106 requests a second.
func TestTwoVersionsOfOneProgramCalmDown(t *testing.T) {
	o := operate(t, version("one"), &Widget{})
	o.eventually(func() bool { return o.exists(webDeployment()) }, "the Deployment of the first version")
	o.sent.reset()
	contested := time.Now()
	o.start(version("two"))
	var c, ready, stalled *metav1.Condition
	o.eventually(func() bool { // in one status: a pass of the one that hasn't noticed yet removes the condition
		all := o.get(o.widget).(*Widget).Status.Conditions
		c, ready = meta.FindStatusCondition(all, events.ConditionContested), meta.FindStatusCondition(all, events.ConditionReady)
		stalled = meta.FindStatusCondition(all, events.ConditionStalled)
		return c != nil && ready != nil && stalled != nil && ready.Message == c.Message
	}, "the conditions")
	assert.Equal(t, metav1.ConditionTrue, c.Status)
	assert.Equal(t, events.ReasonContested, c.Reason)
	assert.Contains(t, c.Message, "spec.template.spec.containers[name=web].image keeps being changed by widget-tester (Apply)")
	assert.Contains(t, c.Message, "stop the other instance or version of this program")
	assert.Equal(t, metav1.ConditionFalse, ready.Status)
	assert.Equal(t, metav1.ConditionTrue, stalled.Status)

	// The owner's other children go on.
	o.change(func(w *Widget) { w.Spec.Source = "changed" })
	o.eventually(func() bool { return o.get(configMap("beside")).(*corev1.ConfigMap).Data["of"] == "changed" }, "the other child")

	// At once 3 of each, and then after 1, 2, 4, 8, ... seconds: after 7 seconds 6 of each, in a minute 18 in all.
	begun := time.Now()
	o.eventually(func() bool { return o.sent.count("PATCH", "/deployments") >= 10 || time.Since(begun) > 4*time.Second }, "a few seconds")
	o.idle()
	// A write that meets the Deployment controller's is a conflict, and the next pass tries again.
	patches := o.sent.count("PATCH", "/deployments") - o.sent.conflicts("PATCH", "/deployments")
	writes, conflicts := o.writes(), o.sent.conflicts("PATCH", "")
	most := 2 * (4 + bits.Len(uint(time.Since(contested).Seconds()))) // also if a busy machine takes longer
	assert.LessOrEqual(t, patches, most, "%v", o.sent.all())
	assert.LessOrEqual(t, len(writes)-conflicts, 26+most, "%v", writes)
	o.eventually(func() bool { return o.heard(events.ReasonContested) > 0 }, "the event")
}

// An autoscaler writes through the subresource scale.
func TestContestWithAnAutoscaler(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	clock := buildertest.NewClock()
	w.engine = buildertest.NewEngine(w.cached, builder.Options{Name: "tester"}, buildertest.EngineOptions{Clock: clock.Now})
	desired := webDeployment()
	desired.Spec.Replicas = ptr.To[int32](0)
	scale := func() {
		t.Helper()
		body := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 1}}
		w.eventually(func() bool {
			return w.live.SubResource("scale").Update(w.ctx, w.get(desired), client.WithSubResourceBody(body),
				client.FieldOwner("autoscaler")) == nil
		}, "scale")
		w.settle(desired)
	}
	w.mustWant(true, "create", desired)
	for range 3 {
		scale()
		w.mustWant(true, "put back at once", desired)
	}
	scale()
	res, sent, err := w.pass(desired)
	require.NoError(t, err)
	assert.Empty(t, sent, "held")
	require.Len(t, pending(res, events.ReasonContested), 1)
	assert.Contains(t, pending(res, events.ReasonContested)[0].String(), ": spec.replicas keeps being changed by autoscaler (Update of scale); ")
	assert.Contains(t, pending(res, events.ReasonContested)[0].String(), `builder.Ignore("spec.replicas")`)
	assert.Equal(t, time.Second, res.RequeueAfter)

	// The remedy: what is left to the other is no contest, and nothing is written any more.
	w.mustWant(true, "the field is handed over at once", desired, builder.Ignore("spec.replicas"))
	for range 3 {
		w.settle(desired)
		w.sent.reset()
		clock.Step(time.Hour)
		res, err = w.engine.For(w.owner).Deployment(desired, builder.Ignore("spec.replicas")).Reconcile(w.ctx)
		require.NoError(t, err)
	}
	assert.Empty(t, w.sent.all())
	assert.Empty(t, pending(res, events.ReasonContested))
	assert.EqualValues(t, 1, *w.get(desired).(*appsv1.Deployment).Spec.Replicas)
}
