package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/minicluster"
)

// The services as an earlier version of the operator made them come back by an undo, and stay until the object is unpaused. Each change
// keeps the state before it, and drops the one before that.
func TestUndo(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("back", 1, "sleep 600", func(c *v1alpha1.MiniCluster) {
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "busybox:1.28", Command: "exec sleep 600"}}
	})
	p.wait("back", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })
	services := &appsv1.Deployment{ObjectMeta: p.meta("back-services")}
	grace := func() int64 {
		require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(services), services))
		return *services.Spec.Template.Spec.TerminationGracePeriodSeconds
	}
	now := grace()
	undoable := func(c *v1alpha1.MiniCluster) string {
		if is := meta.FindStatusCondition(c.Status.Conditions, events.ConditionUndoable); is != nil {
			return is.Message
		}
		return ""
	}
	// An earlier version had another grace period, and so another digest.
	asEarlier := func(seconds int64) {
		p.Edit(services, func() {
			services.Annotations["armature.dev/digest"] = "earlier"
			services.Spec.Template.Spec.TerminationGracePeriodSeconds = &seconds
		}, client.FieldOwner(minicluster.Name))
		p.Eventually("the new version changes it", func() bool { return grace() == now })
	}
	asEarlier(41)
	first := undoable(p.cluster("back"))
	require.NotEmpty(t, first)
	asEarlier(42)
	second := undoable(p.cluster("back"))
	assert.NotEqual(t, first, second)
	var kept appsv1.ControllerRevisionList
	require.NoError(t, p.Client.List(t.Context(), &kept, client.InNamespace(p.Namespace)))
	var names []string
	for i := range kept.Items {
		names = append(names, kept.Items[i].Name)
	}
	assert.Equal(t, []string{second}, names)

	c := p.cluster("back")
	p.Edit(c, func() { c.Annotations = map[string]string{"armature.dev/paused": "true", "armature.dev/undo": second} })
	p.wait("back", "it is undone", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, events.ConditionUndone) })
	assert.EqualValues(t, 42, grace())
	p.Edit(c, func() { c.Annotations = nil })
	p.Eventually("it is as the spec desires", func() bool { return grace() == now })
	p.wait("back", "it isn't undone", func(c *v1alpha1.MiniCluster) bool {
		return meta.FindStatusCondition(c.Status.Conditions, events.ConditionUndone) == nil
	})
}
