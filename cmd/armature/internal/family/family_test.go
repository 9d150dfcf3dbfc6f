package family

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
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
						if verb == "create" && resource != "events" {
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
