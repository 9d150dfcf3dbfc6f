package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
)

// events returns the events about the widget by reason.
func (o *operated) events() map[string]eventsv1.Event {
	var list eventsv1.EventList
	require.NoError(o.t, o.live.List(o.ctx, &list, client.InNamespace(o.ns)))
	byReason := map[string]eventsv1.Event{}
	for _, e := range list.Items {
		if e.Regarding.Kind == "Widget" {
			byReason[e.Reason] = e
		}
	}
	return byReason
}

func TestEventsTellTransitionsAndOfWhat(t *testing.T) {
	o := operate(t, plan, &Widget{Spec: WidgetSpec{Children: []string{"a"}, Data: map[string]string{"k": "1"}}})
	o.eventually(func() bool { return o.heard(events.ReasonCreated) == 1 }, "the child's event")
	o.change(func(w *Widget) { w.Spec.Data["k"] = "2" })
	o.eventually(func() bool { return o.heard(events.ReasonUpdated) == 1 }, "its change")
	uid := o.get(configMap("a")).GetUID()
	o.change(func(w *Widget) { w.Spec.Children = nil; w.Spec.Replicas = ptr.To[int32](-1) })
	o.eventually(func() bool { return o.heard(events.ReasonApplyFailed) == 1 }, "a failure")
	o.change(func(w *Widget) { w.Spec.Replicas = nil })
	o.eventually(func() bool { return o.heard(events.ReasonDeleted) == 1 }, "its end")
	o.settled()
	o.poke()

	told := o.events()
	require.Len(t, told, 4)
	for reason, want := range map[string]struct{ kind, action, related string }{
		events.ReasonCreated:     {corev1.EventTypeNormal, events.ActionApply, "ConfigMap a"},
		events.ReasonUpdated:     {corev1.EventTypeNormal, events.ActionApply, "ConfigMap a"},
		events.ReasonDeleted:     {corev1.EventTypeNormal, events.ActionPrune, "ConfigMap a"},
		events.ReasonApplyFailed: {corev1.EventTypeWarning, events.ActionApply, "Deployment web"},
	} {
		e := told[reason]
		assert.Equal(t, 1, o.heard(reason), "%s: idle passes tell nothing", reason)
		assert.Equal(t, want.kind, e.Type, reason)
		assert.Equal(t, want.action, e.Action, reason)
		assert.Equal(t, "widget-tester", e.ReportingController, reason)
		assert.Equal(t, o.widget.UID, e.Regarding.UID, reason)
		require.NotNil(t, e.Related, reason)
		assert.Equal(t, want.related, e.Related.Kind+" "+e.Related.Name, reason)
		assert.Equal(t, o.ns, e.Related.Namespace, reason)
		if want.related == "ConfigMap a" {
			assert.Equal(t, uid, e.Related.UID, reason)
		}
	}
}
