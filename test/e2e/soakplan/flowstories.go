package soakplan

import (
	"github.com/armature-dev/armature/api/v1alpha1"
)

// retriedFlow has nodes that succeed only after a retry, which may be asked for before they have failed.
func (t *telling) retriedFlow() *Object {
	o := t.drawFlow(2 + t.IntN(6))
	flow := o.Made.(*v1alpha1.JobFlow)
	flow.Spec.JobRetention = ""
	flow.Spec.FailFast = false // what it cuts off in the first attempt would change what the second has to do
	for i := range flow.Spec.Flows {
		if n := &flow.Spec.Flows[i]; temperOf(n) == doomed || temperOf(n) == late || i == 0 && n.ForEach == nil && temperOf(n) != speaks {
			n.JobTemplate = jobOf(mended, 0)
		}
	}
	final := flow.DeepCopy()
	final.Spec.Retry = 1
	o = t.create(&Object{Story: "flow that is retried", Made: flow, Final: final, Expect: endOfFlow(&final.Spec)})
	t.later(o, short, 2*long, Patch, "retry", patchOf(map[string]any{"retry": 1}))
	return o
}

// Gate is the name of the JobTemplate that an edited flow waits for.
func Gate(flow string) string { return flow + "-gate" }

// editedFlow waits at its first node, for a JobTemplate. Meanwhile it is changed, so that there is no doubt what of it the
// change finds started: nothing.
func (t *telling) editedFlow() *Object {
	drawn, other := t.drawFlow(1+t.IntN(6)).Made.(*v1alpha1.JobFlow), t.drawFlow(1+t.IntN(6)).Made.(*v1alpha1.JobFlow)
	gate := v1alpha1.Flow{Name: "gate", JobTemplateRef: Gate(t.name)}
	behind := func(flow *v1alpha1.JobFlow) {
		for i := range flow.Spec.Flows {
			if n := &flow.Spec.Flows[i]; len(n.Dependencies) == 0 {
				n.Dependencies = []string{gate.Name}
			}
		}
		flow.Spec.Flows = append(flow.Spec.Flows, gate)
	}
	behind(drawn)
	behind(other)
	final := drawn.DeepCopy()
	final.Spec.Flows = other.Spec.Flows
	o := t.create(&Object{Story: "flow that is edited", Made: drawn, Final: final, Expect: endOfFlow(&final.Spec)})
	t.later(o, short, long, Patch, "other nodes", patchOf(map[string]any{"flows": final.Spec.Flows}))
	template := &v1alpha1.JobTemplate{Spec: v1alpha1.JobTemplateSpec{JobTemplate: *jobOf(easy, 1)}}
	template.Name = gate.JobTemplateRef
	t.later(&Object{Story: "lets " + t.name + " go on", Made: template, Final: template}, short, long, Create, "", "")
	return o
}

// endlessFlow has a node that doesn't end by itself.
func (t *telling) endlessFlow() *Object {
	o := t.drawFlow(1 + t.IntN(6))
	flow := o.Made.(*v1alpha1.JobFlow)
	n := v1alpha1.Flow{Name: "endless", JobTemplate: jobOf(easy, 3600)}
	flow.Spec.Flows = append(flow.Spec.Flows, n)
	flow.Spec.FailFast = false
	o.Story = "endless flow"
	return o
}

// stoppedFlow is endless, and is ended by a user or by its deadline.
func (t *telling) stoppedFlow() *Object {
	o := t.endlessFlow()
	flow := o.Made.(*v1alpha1.JobFlow)
	o.Expect = endOfStoppedFlow(&flow.Spec)
	if t.oneIn(2) {
		flow.Spec.ActiveDeadlineSeconds = new(int64(1 + t.IntN(10)))
		o.Story, o.Expect.Reason = o.Story+" with a deadline", v1alpha1.ReasonDeadlineExceeded
		return t.create(o)
	}
	o.Story, o.Expect.Reason = o.Story+", terminated", v1alpha1.ReasonTerminated
	t.create(o)
	t.later(o, short, long, Patch, "terminate", patchOf(map[string]any{"terminate": true}))
	return o
}
