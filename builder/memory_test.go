package builder

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

func TestMemo(t *testing.T) {
	m := newMemo(4)
	a1, a2 := memoEntry{"1", 7}, memoEntry{"2", 7}
	assert.False(t, m.has("a", memoEntry{}))
	m.add("a", a1)
	assert.True(t, m.has("a", a1))
	assert.False(t, m.has("a", a2), "another version")
	assert.False(t, m.has("a", memoEntry{"1", 8}), "something else is wanted")
	m.add("a", a2)
	assert.True(t, m.has("a", a2))
	assert.False(t, m.has("a", a1))
}

func TestMemoIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	m := newMemo(10)
	used := memoEntry{"1", 1}
	m.add("used", used)
	for i := range 1000 {
		assert.True(t, m.has("used", used))
		m.add(types.UID(fmt.Sprint(i)), memoEntry{"1", 1})
		assert.LessOrEqual(t, len(m.young)+len(m.old), 10)
	}
	assert.False(t, m.has("0", used))
}

func TestMemoIsSafe(t *testing.T) {
	m := newMemo(16)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 1000 {
				m.add(types.UID(fmt.Sprint(i*g)), memoEntry{"1", 1})
				m.has(types.UID(fmt.Sprint(i)), memoEntry{"1", 1})
			}
		})
	}
	wg.Wait()
}

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
		"soon":         {after: settledFor - time.Second, settled: true},
		"much later":   {after: settledFor},
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
	assert.Equal(t, 1, e.memory.settled.Len())
	unset.SetLabels(nil)
	d.fields = unset.DeepCopy().Object
	e.settle(unset, d)
	assert.Zero(t, e.memory.settled.Len(), "what is as desired takes no memory")
}
