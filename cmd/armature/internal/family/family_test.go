package family

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// TestKindsBelowAreThoseThatOperatorsCreate holds the table to the permissions of the operators, which are exact.
func TestKindsBelowAreThoseThatOperatorsCreate(t *testing.T) {
	for _, kind := range []string{"JobFlow", "DaemonJob", "FluxJob", "MiniCluster", "ReplicaJob"} {
		text, err := os.ReadFile(filepath.Join("../../../../config/rbac", "operator-"+strings.ToLower(kind)+".yaml"))
		require.NoError(t, err)
		var role rbacv1.ClusterRole
		require.NoError(t, yaml.Unmarshal(text, &role))
		var may []string
		for _, rule := range role.Rules {
			for _, verb := range rule.Verbs {
				for _, group := range rule.APIGroups {
					for _, resource := range rule.Resources {
						if verb == "create" && resource != "events" && resource != "controllerrevisions" { // notes, which run nothing
							may = append(may, resource+"."+group)
						}
					}
				}
			}
		}
		kinds, known := kindsBelow(ours(kind))
		assert.True(t, known)
		var table []string
		for _, gk := range kinds {
			table = append(table, strings.ToLower(gk.Kind)+"s."+gk.Group)
		}
		assert.ElementsMatch(t, may, table, kind)
	}
}

func TestKindsBelow(t *testing.T) {
	for group, want := range map[string]bool{"": true, "apps": true, "rbac.authorization.k8s.io": true, "example.com": false} {
		kinds, known := kindsBelow(schema.GroupKind{Group: group, Kind: "Thing"})
		assert.Equal(t, want, known, "%q", group)
		assert.Empty(t, kinds)
	}
}

func TestOrder(t *testing.T) {
	member := func(kind, node, name string, age time.Duration) *Member {
		u := &unstructured.Unstructured{}
		u.SetAPIVersion("batch/v1")
		u.SetKind(kind)
		u.SetName(name)
		u.SetLabels(map[string]string{flowLabel: node})
		u.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(-age)))
		return &Member{Unstructured: u}
	}
	names := func(m *Member) (all []string) {
		m.sort()
		for _, o := range m.Owned {
			all = append(all, o.GetName())
		}
		return all
	}
	flow := member("JobFlow", "", "f", 0)
	flow.SetAPIVersion("api.practice.com/v1alpha1")
	flow.Object["spec"] = map[string]any{
		"flows": []any{map[string]any{"name": "z"}, map[string]any{"name": "a"}}, "finally": []any{map[string]any{"name": "end"}},
	}
	flow.Owned = []*Member{
		member("Job", "gone", "f-gone", time.Hour), member("Job", "end", "f-end", 0), member("Job", "a", "f-a-r1", 0),
		member("Job", "a", "f-a", time.Minute), member("Job", "z", "f-z", 0),
	}
	assert.Equal(t, []string{"f-z", "f-a", "f-a-r1", "f-end", "f-gone"}, names(flow))

	job := member("Job", "", "j", 0)
	job.Owned = []*Member{member("Pod", "", "b", 0), member("Pod", "", "a", 0), member("Pod", "", "old", time.Hour)}
	assert.Equal(t, []string{"old", "a", "b"}, names(job))
}
