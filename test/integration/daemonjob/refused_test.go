package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// A namespace whose Pod Security refuses what the template asks for: the condition has the API server's words.
func TestADaemonJobSaysWhyItHasNoPods(t *testing.T) {
	p := newPlaceAlone(t)
	p.MustKubectl("label", "namespace", p.Namespace, "pod-security.kubernetes.io/enforce=restricted")
	p.manage()
	node := p.addNode("one")
	p.create(p.onPool("1s"))
	p.Eventually("the reason is told", func() bool {
		c := meta.FindStatusCondition(p.get("demo").Status.Conditions, events.ConditionReady)
		return c != nil && c.Reason == v1alpha1.ReasonPodsRefused
	}, func() any { return p.get("demo").Status })
	assert.Contains(t, meta.FindStatusCondition(p.get("demo").Status.Conditions, events.ConditionReady).Message,
		"0 of 1 node succeeded, 1 running; node "+node+` has no pod, since it is refused: violates PodSecurity "restricted:latest"`)
	p.OneEvent("demo", v1alpha1.ReasonPodsRefused)
}
