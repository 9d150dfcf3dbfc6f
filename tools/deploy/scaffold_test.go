package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The chart of a project of armature new grants the permissions of a feature if it is switched on.
func TestChartOfAProject(t *testing.T) {
	dir := t.TempDir()
	for file, from := range map[string]string{
		"Chart.yaml": "Chart.yaml.tmpl", "values.yaml": "values.yaml.tmpl", "templates/deployment.yaml": "deployment.yaml.tmpl",
	} {
		text, err := os.ReadFile("../../cmd/armature/internal/scaffold/templates/" + from)
		require.NoError(t, err)
		filled := strings.NewReplacer("[[.Name]]", "backup", "[[.Group]]", "example.com").Replace(string(text))
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(filled), 0o600))
	}
	render := func(values ...string) (map[string]object, any) {
		args := []string{"template", "backup", dir, "--namespace", "system"}
		for _, v := range values {
			args = append(args, "--set-json", v)
		}
		out, err := tool(t, "helm", args...)
		require.NoError(t, err, out)
		all := objects(t, out)
		containers, _ := at(all["Deployment system/backup"], "spec", "template", "spec", "containers").([]any)
		require.Len(t, containers, 1)
		return all, at(containers[0], "args")
	}
	all, args := render()
	assert.Len(t, all, 5, "%v", keys(all))
	assert.Equal(t, []any{
		"--leader-elect", "--undo=false", "--rollout-max-owners=unlimited", "--record-bytes=0", "--state-dir=/var/lib/backup",
	}, args)

	// A child of the project has the labels name and instance, too.
	selector := map[string]any{
		"app.kubernetes.io/name": "backup", "app.kubernetes.io/instance": "backup", "app.kubernetes.io/component": "operator",
	}
	deployment := all["Deployment system/backup"]
	assert.Equal(t, selector, at(deployment, "spec", "selector", "matchLabels"))
	assert.Equal(t, selector, at(deployment, "spec", "template", "metadata", "labels"))
	assert.EqualValues(t, 1, at(deployment, "spec", "replicas"))
	assert.Nil(t, at(deployment, "spec", "strategy"), "the next pod is ready before the former one releases the lease")
	assert.Contains(t, at(all["Role system/backup-leader-election"], "rules"), map[string]any{
		"apiGroups": []any{"coordination.k8s.io"}, "resources": []any{"leases"}, "resourceNames": []any{"backup"}, "verbs": []any{"get", "update"},
	})
	all, _ = render("replicas=2")
	assert.EqualValues(t, 2, at(all["Deployment system/backup"], "spec", "replicas"))

	all, args = render("undo=true", `rolloutMaxOwners="10%"`, "recordBytes=8388608", `watchNamespaces=["a","b"]`)
	assert.Equal(t, []any{
		"--leader-elect", "--undo=true", "--rollout-max-owners=10%", "--record-bytes=8388608", "--state-dir=/var/lib/backup",
		"--watch-namespaces=a,b",
	}, args)
	assert.Subset(t, keys(all), []string{"Role system/backup-rollout", "ClusterRole /backup-undo"})

	_, args = render("rolloutMaxOwners=1")
	assert.Contains(t, args, "--rollout-max-owners=1")
}
