package fieldmanager

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhoseFieldsAreLeft(t *testing.T) {
	const update = metav1.ManagedFieldsOperationUpdate
	m := Manager{Name: "me", Former: []string{KubectlApply, "former"}}
	both := `{"f:data":{".":{},"f:a":{},"f:b":{}}}`
	status := entry("old", update, both)
	status.Subresource = "status"
	for name, c := range map[string]struct {
		others []metav1.ManagedFieldsEntry
		want   string
	}{
		"no one's":             {},
		"another's":            {[]metav1.ManagedFieldsEntry{entry("old", update, both)}, "old: data.b"},
		"an applier's":         {[]metav1.ManagedFieldsEntry{entry("old", metav1.ManagedFieldsOperationApply, both)}, "old: data.b"},
		"kubectl's":            {[]metav1.ManagedFieldsEntry{entry("kubectl-edit", update, both)}, ""},
		"an autoscaler's":      {[]metav1.ManagedFieldsEntry{entry("kube-controller-manager", update, both)}, ""},
		"a subresource's":      {[]metav1.ManagedFieldsEntry{status}, ""},
		"a former manager's":   {[]metav1.ManagedFieldsEntry{entry("former", update, both)}, ""},
		"another's, kubectl's": {[]metav1.ManagedFieldsEntry{entry("old", update, both), entry("kubectl-edit", update, `{"f:data":{"f:b":{}}}`)}, ""},
		"nonsense":             {[]metav1.ManagedFieldsEntry{entry("old", update, `nonsense`)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			entries := append(slices.Clone(c.others), entry("me", metav1.ManagedFieldsOperationApply, `{"f:data":{"f:a":{}}}`))
			var got []string
			for _, left := range m.SetByOthers(entries) {
				live := map[string]any{"data": map[string]any{"a": "1", "b": "2"}}
				got = append(got, left.Manager+": "+strings.Join(left.Paths(live, nil), ", "))
				assert.Empty(t, left.Paths(live, live), "what a new object would have")
			}
			assert.Equal(t, c.want, strings.Join(got, "; "))
		})
	}
}

func TestPathsOfFieldsLeft(t *testing.T) {
	set, err := Fields(entry("x", "", `{"f:data":{"f:a":{},"f:tls.crt":{}},"f:spec":{"f:list":{`+
		`"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:v":{}},"k:{\"name\":\"z\"}":{"f:v":{}}},"f:set":{"v:\"a\"":{}}}}`))
	assert.NoError(t, err)
	live := map[string]any{"data": map[string]any{"a": "1", "tls.crt": "2"}, "spec": map[string]any{
		"list": []any{map[string]any{"name": "x", "v": "1"}, map[string]any{"name": "z", "v": "1"}}, "set": []any{"a"},
	}}
	assert.ElementsMatch(t, []string{"data.a", `data["tls.crt"]`, "spec.list[name=x]", "spec.list[name=z].v", "spec.set[a]"},
		SetBy{Fields: set}.Paths(live, nil))
}
