package fieldmanager

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/paths"
)

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func TestTakeOver(t *testing.T) {
	const update, apply = metav1.ManagedFieldsOperationUpdate, metav1.ManagedFieldsOperationApply
	scale := entry("hpa", update, `{"f:spec":{"f:replicas":{}}}`)
	scale.Subresource = "scale"
	formerScale := scale
	formerScale.Manager = "old"
	otherVersion := entry("old", update, `{"f:gone":{}}`)
	otherVersion.APIVersion = "v0"
	a, b := `{"f:data":{"f:a":{}}}`, `{"f:data":{"f:b":{}}}`
	both := `{"f:data":{"f:a":{},"f:b":{}}}`
	const controller, other, finalizers = `"k:{\"uid\":\"c\"}":{}`, `"k:{\"uid\":\"o\"}":{}`, `"f:finalizers":{".":{},"v:\"x/y\"":{}}`
	references := func(to string) string { return `{"f:metadata":{"f:ownerReferences":{` + to + `}}}` }
	all := `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:n":{}},` + finalizers + `,"f:ownerReferences":{` + controller + `,` + other + `}}}`
	taken := `{"f:data":{"f:a":{}},"f:metadata":{"f:annotations":{"f:n":{}},"f:ownerReferences":{` + controller + `}}}`
	left := `{"f:metadata":{` + finalizers + `,"f:ownerReferences":{` + other + `}}}`
	type entries = []metav1.ManagedFieldsEntry
	for name, c := range map[string]struct {
		record, after entries
		ignored       string
		neverWritten  bool
		unchanged     bool
	}{
		"nothing":           {unchanged: true},
		"applied":           {record: entries{entry("me", apply, a), entry("x", update, b)}, unchanged: true},
		"created":           {record: entries{entry("x", update, b), entry("me", update, a)}, after: entries{entry("x", update, b), entry("me", apply, a)}},
		"created, repaired": {record: entries{entry("me", update, a), entry("me", apply, b)}, after: entries{entry("me", apply, both)}},
		"others only":       {record: entries{entry("x", update, b), entry("y", apply, a)}, unchanged: true},
		"former update":     {record: entries{entry("old", update, a)}, after: entries{entry("me", apply, a)}},
		"former apply":      {record: entries{entry("old", apply, a)}, after: entries{entry("me", apply, a)}},
		"former both":       {record: entries{entry("old", apply, a), entry("old", update, b)}, after: entries{entry("me", apply, both)}},
		"kubectl":           {record: entries{entry("me", apply, b), entry(KubectlApply, update, a)}, after: entries{entry("me", apply, both)}},
		"subresources stay": {record: entries{scale, formerScale, entry("old", update, a)}, after: entries{scale, formerScale, entry("me", apply, a)}},
		"another version":   {record: entries{entry("me", apply, a), otherVersion}, after: entries{entry("me", apply, a)}},
		"self, the first":   {record: entries{entry(Program(), update, a)}, neverWritten: true, after: entries{entry("me", apply, a)}},
		"self, later":       {record: entries{entry("me", apply, a), entry(Program(), update, b)}, unchanged: true},
		"self, by applies":  {record: entries{entry(Program(), apply, a)}, neverWritten: true, unchanged: true},
		"self, what others of the name may need": {
			record: entries{entry(Program(), update, all)}, neverWritten: true, after: entries{entry("me", apply, taken), entry(Program(), update, left)},
		},
		"self, beside ours": {
			record: entries{entry(Program(), update, all), entry("me", update, b)}, neverWritten: true,
			after: entries{entry("me", apply, strings.Replace(taken, `"f:a":{}`, `"f:a":{},"f:b":{}`, 1)), entry(Program(), update, left)},
		},
		"self, nothing else": {
			record: entries{entry("me", apply, b), entry(Program(), update, references(other))}, neverWritten: true, unchanged: true,
		},
		"former, with all":  {record: entries{entry("old", update, all)}, after: entries{entry("me", apply, all)}},
		"ignored, created":  {record: entries{entry("me", update, both)}, ignored: "data[b]", after: entries{entry("me", apply, a)}},
		"ignored, applied":  {record: entries{entry("me", apply, both)}, ignored: "data[b]", after: entries{entry("me", apply, a)}},
		"ignored, not ours": {record: entries{entry("me", apply, a), entry("x", update, b)}, ignored: "data[b]", unchanged: true},
	} {
		t.Run(name, func(t *testing.T) {
			m := Manager{Name: "me", Former: []string{KubectlApply, "old"}}
			if c.neverWritten {
				m.Program = Program()
			}
			var released Released
			if c.ignored != "" {
				path, err := paths.Parse(c.ignored)
				require.NoError(t, err)
				released.Paths = []paths.Path{path}
			}
			before := (&metav1.ObjectMeta{ManagedFields: c.record}).DeepCopy().ManagedFields
			after, changed, err := m.TakeOver(c.record, "c", released)
			require.NoError(t, err)
			assert.Equal(t, before, c.record, "shared with the cache")
			assert.Equal(t, !c.unchanged, changed)
			if c.unchanged {
				c.after = c.record
			}
			assert.Equal(t, c.after, after)
			if !c.unchanged {
				_, changed, err = m.TakeOver(after, "c", released)
				require.NoError(t, err)
				assert.False(t, changed, "once")
			}
		})
	}
	_, _, err := Manager{Name: "me"}.TakeOver([]metav1.ManagedFieldsEntry{entry("me", update, `nonsense`)}, "", Released{})
	assert.ErrorContains(t, err, "managedFields of me")
}
