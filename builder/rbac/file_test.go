package rbac_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/armature-dev/armature/builder/rbac"
)

// The documents of a file are separated in any way that YAML permits.
func TestParseReadsAllDocuments(t *testing.T) {
	const text = `kind: ConfigMap
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
rules:
- {nonResourceURLs: [/metrics], verbs: [get]}
`
	want := []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}},
		{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}},
	}
	for name, text := range map[string]string{
		"lines":              text,
		"a leading line":     "---\n" + text,
		"comments":           strings.ReplaceAll(text, "---", "--- # Source: chart/templates/role.yaml"),
		"trailing spaces":    strings.ReplaceAll(text, "---", "---  "),
		"carriage returns":   strings.ReplaceAll(text, "\n", "\r\n"),
		"a line at the end":  text + "---",
		"a comment in front": "# Generated.\n---\n" + text,
	} {
		rules, err := rbac.Parse([]byte(text))
		require.NoError(t, err, name)
		assert.Equal(t, want, rules, name)
	}
	file := filepath.Join(t.TempDir(), "roles.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, "rules:", "metadata: {namespace: a}\nrules:")), 0o600))
	roles, err := rbac.ReadRoles(file)
	require.NoError(t, err)
	require.Len(t, roles, 2)
	assert.Equal(t, []string{"a", ""}, []string{roles[0].Namespace, roles[1].Namespace}, "a ClusterRole has none")
	_, err = rbac.Parse([]byte(strings.ReplaceAll(text, "---", "--- {}")))
	require.Error(t, err, "a document that would not be read")
}

// A role of Options.More keeps its URLs when it is written.
func TestMarshalURLs(t *testing.T) {
	role := &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics", "*"}, Verbs: []string{"get"}}}}
	text := rbac.Marshal(role)
	assert.Contains(t, string(text), "rules:\n- nonResourceURLs: [/metrics, \"*\"]\n  verbs: [get]\n")
	read, err := rbac.Parse(text)
	require.NoError(t, err)
	assert.Equal(t, role.Rules, read)
}
