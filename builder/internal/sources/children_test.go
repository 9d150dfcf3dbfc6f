package sources

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// The number of an owner's children after a pass is that of the next pass's view, whatever the pass has done.
func TestTheNumberOfChildrenAfterAPass(t *testing.T) {
	k := kinds.Kind{GVK: corev1.SchemeGroupVersion.WithKind("ConfigMap")}
	key := func(name string) store.Key { return store.Key{Kind: "ConfigMap", Namespace: "default", Name: name} }
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	c := &Children{
		Memory: memory.New(), ByController: NewByController(kinds.New(nil, time.Now), "test"), Owner: owner, ByKey: map[store.Key]client.Object{},
	}
	c.note(k)
	for _, name := range []string{"a", "b", "pruned", "recreated"} {
		c.ByKey[key(name)] = &corev1.ConfigMap{}
	}
	delete(c.ByKey, key("pruned"))
	c.Changed(events.ReasonDeleted, k, key("pruned"))
	c.Changed(events.ReasonRecreating, k, key("recreated"))
	c.Changed(events.ReasonCreated, k, key("new"))
	c.RememberCount()
	n, known := c.Memory.Counts.Get("1")
	assert.True(t, known)
	assert.Equal(t, 3, n, "a, b and new")
}
