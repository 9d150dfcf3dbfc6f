package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// What the API server made of a child is believed until the child, but for what changes by itself, or what is desired is
// another, or an hour has passed.
func TestSettled(t *testing.T) {
	gadget := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Gadget",
			"metadata": map[string]any{"namespace": "default", "name": "g", "uid": "u", "resourceVersion": "1"}, "spec": spec,
		}}
	}
	for name, c := range map[string]struct {
		change  func(found *unstructured.Unstructured, d *Desired)
		after   time.Duration
		settled bool
	}{
		"the same": {settled: true},
		"a status": {settled: true, change: func(found *unstructured.Unstructured, _ *Desired) {
			found.SetResourceVersion("2")
			found.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "its-controller", Subresource: "status"}})
			found.Object["status"] = map[string]any{"n": int64(1)}
		}},
		"a field":      {change: func(found *unstructured.Unstructured, _ *Desired) { found.Object["spec"] = map[string]any{"a": "2"} }},
		"a label":      {change: func(found *unstructured.Unstructured, _ *Desired) { found.SetLabels(map[string]string{"a": "b"}) }},
		"another UID":  {change: func(found *unstructured.Unstructured, _ *Desired) { found.SetUID("v") }},
		"another wish": {change: func(_ *unstructured.Unstructured, d *Desired) { d.Digest = "other" }},
		"soon":         {after: time.Hour - time.Second, settled: true},
		"much later":   {after: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t)
			now := time.Unix(1, 0)
			cluster.Now = func() time.Time { return now }
			d := &Desired{
				Child:  &Child{},
				Kind:   kinds.Kind{GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, Untyped: true},
				fields: gadget(map[string]any{"a": "1", "pruned": "x"}).Object, Digest: "d",
			}
			found := gadget(map[string]any{"a": "1"})
			cluster.settle(found, d)
			if c.change != nil {
				c.change(found, d)
			}
			now = now.Add(c.after)
			assert.Equal(t, c.settled, cluster.isSettled(found, d))
		})
	}
	cluster := newCluster(t)
	d := &Desired{Child: &Child{}, Kind: kinds.Kind{Untyped: true}, fields: gadget(map[string]any{"a": "1"}).Object, Digest: "d"}
	d.Kind.GVK = schema.FromAPIVersionAndKind("example.com/v1", "Gadget")
	unset := gadget(map[string]any{"a": "1"})
	cluster.settle(unset, &Desired{Child: d.Child, Kind: d.Kind, fields: gadget(map[string]any{"b": "1"}).Object, Digest: "d"})
	assert.Equal(t, 1, cluster.Memory.Settled.Len())
	unset.SetLabels(nil)
	d.fields = unset.DeepCopy().Object
	cluster.settle(unset, d)
	assert.Zero(t, cluster.Memory.Settled.Len(), "what is as desired takes no memory")
}
