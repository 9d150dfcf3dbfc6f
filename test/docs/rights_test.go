package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// right is a verb on a resource.
type right struct{ resource, verb string }

// installed returns the rights of the roles in files of config/rbac.
func installed(t *testing.T, patterns ...string) map[right]bool {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob("../../config/rbac/" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		files = append(files, found...)
	}
	all := map[right]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			require.NoError(t, yaml.Unmarshal(part, &role), file)
			for _, rule := range role.Rules {
				for _, resource := range rule.Resources {
					for _, verb := range rule.Verbs {
						all[right{resource, verb}] = true
					}
				}
			}
		}
	}
	return all
}

// tables returns the tables of rights in docs/security.md, in their order, as rows of cells.
func tables(t *testing.T) (found [][][]string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/security.md")
	require.NoError(t, err)
	in := false
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		switch {
		case strings.HasPrefix(line, "| right on | verbs | allows"):
			in, found = true, append(found, nil)
		case !strings.HasPrefix(line, "|"):
			in = false
		case in && !strings.HasPrefix(line, "|---"):
			found[len(found)-1] = append(found[len(found)-1], cells)
		}
	}
	return found
}

var inBackticks = regexp.MustCompile("`([^`]+)`")

func namesIn(cell string) (all []string) {
	for _, found := range inBackticks.FindAllStringSubmatch(cell, -1) {
		all = append(all, found[1])
	}
	return all
}

// No role lists or watches Secrets of other names than its own: RBAC can't tell their metadata from their content, so that whoever
// has the token could read them all.
func TestNoRoleReadsSecretsInBulk(t *testing.T) {
	var files []string
	for _, pattern := range []string{"../../config/rbac/*.yaml", "../../config/rbac/*/*.yaml", "../../charts/armature/files/rbac/*.yaml"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
			var role rbacv1.ClusterRole
			require.NoError(t, yaml.Unmarshal(part, &role), file)
			for _, rule := range role.Rules {
				secrets := slices.ContainsFunc(rule.Resources, func(r string) bool { return r == "secrets" || r == "*" }) &&
					slices.ContainsFunc(rule.APIGroups, func(g string) bool { return g == "" || g == "*" })
				bulk := slices.ContainsFunc(rule.Verbs, func(v string) bool { return v == "list" || v == "watch" || v == "*" })
				assert.False(t, secrets && bulk && len(rule.ResourceNames) == 0, "%s: %s reads all Secrets: %v", file, role.Name, rule.Verbs)
			}
		}
	}
}

// docs/security.md says of each right of the installed roles what it is worth, and of no right twice, and of none that they don't have.
func TestEachRightIsWorthSomething(t *testing.T) {
	all := tables(t)
	require.Len(t, all, 4, "for users, on what is used, for the operators, and for the manager itself")
	for i, roles := range [][]string{{"kinds-*.yaml"}, nil, {"operator-*.yaml"}, {"manager-*.yaml", "webhook/*.yaml"}} {
		told := map[right]bool{}
		for _, row := range all[i] {
			require.GreaterOrEqual(t, len(row), 3, "%v", row)
			assert.NotEmpty(t, strings.TrimSpace(row[2]), "%v", row)
			for _, resource := range namesIn(row[0]) {
				for _, verb := range namesIn(row[1]) {
					r := right{resource, verb}
					assert.False(t, told[r], "%s of %s is told twice", verb, resource)
					told[r] = true
				}
			}
		}
		if roles == nil {
			assert.NotEmpty(t, told)
			continue
		}
		have := installed(t, roles...)
		for r := range have {
			assert.True(t, told[r], "docs/security.md doesn't say what %s of %s is worth, which %v has", r.verb, r.resource, roles)
		}
		for r := range told {
			assert.True(t, have[r], "docs/security.md has %s of %s, which no role of %v has", r.verb, r.resource, roles)
		}
	}
}

// The tests that the tables name are there.
func TestEachClaimOnARightIsTried(t *testing.T) {
	tests := map[string]bool{}
	for _, dir := range []string{"builder", "dsoi", "operators", "test/integration"} {
		require.NoError(t, filepath.WalkDir("../../"+dir, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(text, -1) {
				tests[string(found[1])] = true
			}
			return err
		}))
	}
	named := 0
	for _, table := range tables(t)[:2] {
		for _, row := range table {
			require.Len(t, row, 4, "%v", row)
			assert.True(t, len(namesIn(row[3])) > 0 || strings.Contains(row[3], "Kubernetes' own tests"), "no test holds %v", row)
			for _, test := range namesIn(row[3]) {
				named++
				assert.True(t, tests[test], "docs/security.md names %s, and there is no such test", test)
			}
		}
	}
	assert.Positive(t, named)
}
