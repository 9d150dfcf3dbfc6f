package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

func TestDiffReadsAsOne(t *testing.T) {
	key := func(kind, name string) store.Key { return store.Key{Kind: kind, Namespace: "default", Name: name} }
	d := Result{
		Changes: []Change{
			{Key: key("ConfigMap", "web"), Reason: events.ReasonCreated, Fields: []FieldDiff{{Path: "data.mode", New: "<a & b>"}}},
			{Key: key("Thing", "web"), Reason: events.ReasonUpdated, Fields: []FieldDiff{
				{Path: "spec.replicas", Old: int64(2), New: int64(3)},
				{Path: "spec.args", Old: []any{"a"}, New: []any{"a", "b"}},
				{Path: "spec.limits", Old: map[string]any{}},
			}},
			{Key: key("Secret", "s"), Reason: events.ReasonDeleted},
		},
		Pending: []ChildStatus{{Key: key("Job", "j"), Reason: events.ReasonWaiting}},
	}
	assert.Equal(t, `+ ConfigMap default/web
+     data.mode: "<a & b>"
~ Thing default/web
-     spec.replicas: 2
+     spec.replicas: 3
-     spec.args: ["a"]
+     spec.args: ["a","b"]
-     spec.limits: {}
- Secret default/s
? Job default/j waits
`, d.String())
	assert.NotEmpty(t, d.Changes)
	assert.Empty(t, Result{}.String())
}
