package uiserver

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestCompare(t *testing.T) {
	at := func(seconds int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC).Add(time.Duration(seconds) * time.Second)}
	}
	status := func(name string, from, to int) v1alpha1.FlowStatus {
		return v1alpha1.FlowStatus{Name: name, State: v1alpha1.FlowSucceed, StartTime: at(from), CompletionTime: at(to)}
	}
	one := withPods(flowNamed("a", "one", v1alpha1.Flow{Name: "build"}, v1alpha1.Flow{Name: "test"}, v1alpha1.Flow{Name: "old"}))
	one.Status.Flows = []v1alpha1.FlowStatus{status("build", 0, 10), status("test", 10, 20), status("old", 0, 1)}
	two := withPods(flowNamed("a", "two", v1alpha1.Flow{Name: "test"}, v1alpha1.Flow{Name: "build"}))
	two.Spec.Flows[0].JobTemplate.Template.Spec.Containers[0].Image = "alpine"
	differences := []specMismatch{}
	differ(&differences, "spec", map[string]any{"metadata": map[string]any{}}, map[string]any{})
	assert.Empty(t, differences, "an empty map says no more than none")
	two.Status.Flows = []v1alpha1.FlowStatus{status("build", 0, 11), status("test", 10, 25)}
	s := newSite(t, newAPI(t, one, two))
	c := bodyOf[comparison](t, s.get("/api/compare?namespace=a&a=one&b=two"))
	assert.Equal(t, []string{"one", "two"}, []string{c.A.Name, c.B.Name})
	require.Len(t, c.Nodes, 3)
	assert.Equal(t, []string{"test", "build", "old"}, []string{c.Nodes[0].Name, c.Nodes[1].Name, c.Nodes[2].Name}, "the largest difference first")
	assert.InDelta(t, 5, *c.Nodes[0].Delta, 0)
	assert.Nil(t, c.Nodes[2].B)
	require.Len(t, c.Spec, 2)
	assert.Equal(t, "spec.flows.old", c.Spec[0].Path)
	assert.Equal(t, specMismatch{"spec.flows.test.jobTemplate.template.spec.containers.main.image", `"busybox"`, `"alpine"`}, c.Spec[1])
	assert.Equal(t, http.StatusNotFound, s.get("/api/compare?namespace=a&a=one&b=none").StatusCode)
	assert.Equal(t, http.StatusBadRequest, s.get("/api/compare?namespace=a&a=one").StatusCode)
}
