package builder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

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
		change  func(found *unstructured.Unstructured, d *desired)
		after   time.Duration
		settled bool
	}{
		"the same": {settled: true},
		"a status": {settled: true, change: func(found *unstructured.Unstructured, _ *desired) {
			found.SetResourceVersion("2")
			found.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "its-controller", Subresource: "status"}})
			found.Object["status"] = map[string]any{"n": int64(1)}
		}},
		"a field":      {change: func(found *unstructured.Unstructured, _ *desired) { found.Object["spec"] = map[string]any{"a": "2"} }},
		"a label":      {change: func(found *unstructured.Unstructured, _ *desired) { found.SetLabels(map[string]string{"a": "b"}) }},
		"another UID":  {change: func(found *unstructured.Unstructured, _ *desired) { found.SetUID("v") }},
		"another wish": {change: func(_ *unstructured.Unstructured, d *desired) { d.digest = "other" }},
		"soon":         {after: time.Hour - time.Second, settled: true},
		"much later":   {after: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			e := engineWith(interceptor.Funcs{})
			now := time.Unix(1, 0)
			e.now = func() time.Time { return now }
			d := &desired{
				kind:   kinds.Kind{GVK: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Gadget"}, Untyped: true},
				fields: gadget(map[string]any{"a": "1", "pruned": "x"}).Object, digest: "d",
			}
			found := gadget(map[string]any{"a": "1"})
			e.settle(found, d)
			if c.change != nil {
				c.change(found, d)
			}
			now = now.Add(c.after)
			assert.Equal(t, c.settled, e.isSettled(found, d))
		})
	}
	e := engineWith(interceptor.Funcs{})
	d := &desired{kind: kinds.Kind{Untyped: true}, fields: gadget(map[string]any{"a": "1"}).Object, digest: "d"}
	d.kind.GVK = schema.FromAPIVersionAndKind("example.com/v1", "Gadget")
	unset := gadget(map[string]any{"a": "1"})
	e.settle(unset, &desired{kind: d.kind, fields: gadget(map[string]any{"b": "1"}).Object, digest: "d"})
	assert.Equal(t, 1, e.memory.Settled.Len())
	unset.SetLabels(nil)
	d.fields = unset.DeepCopy().Object
	e.settle(unset, d)
	assert.Zero(t, e.memory.Settled.Len(), "what is as desired takes no memory")
}
