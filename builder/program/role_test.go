package program_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/program"
	v1 "github.com/armature-dev/armature/examples/tutorial/api/v1"
	"github.com/armature-dev/armature/examples/tutorial/operator"
)

const (
	crds   = "../../examples/tutorial/config"
	sample = "../../examples/tutorial/sample.yaml"
)

// run runs the tutorial's program.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := program.Run(t.Context(), program.Options{
		Name: "backup", AddToScheme: v1.AddToScheme, Setup: operator.Setup,
		Permissions: []rbacv1.PolicyRule{{APIGroups: []string{"example.com"}, Resources: []string{"extras"}, Verbs: []string{"get"}}},
	}, args, &out)
	return out.String(), err
}

// The role has what the declarations and the plans for the samples need, and the program's own permissions.
func TestRole(t *testing.T) {
	text, err := run(t, "role", "-crds", crds, "-samples", sample)
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &role))
	assert.Equal(t, "backup-operator", role.Name)
	verbs := map[string][]string{}
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			verbs[resource] = rule.Verbs
		}
	}
	assert.Equal(t, []string{"get", "list", "watch"}, verbs["backups"])
	assert.Equal(t, []string{"patch"}, verbs["backups/status"])
	assert.Equal(t, []string{"get", "list", "watch", "create", "patch"}, verbs["cronjobs"])
	assert.Equal(t, []string{"get", "list", "watch", "create", "patch", "delete"}, verbs["configmaps"], "the sample's script, which is pruned")
	assert.Equal(t, []string{"get"}, verbs["extras"])

	file := filepath.Join(t.TempDir(), "role.yaml")
	printed, err := run(t, "role", "-crds", crds, "-samples", filepath.Dir(sample), "-output", file)
	require.Error(t, err, "the directory has more than samples")
	require.Empty(t, printed)
	printed, err = run(t, "role", "-crds", crds, "-samples", sample, "-output", file)
	require.NoError(t, err)
	require.Empty(t, printed)
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, text, string(written))
}

// The owner of a cluster-scoped kind has no namespace, so that its children may be in any.
func TestRoleOfAClusterScopedKind(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(crds, "examples.armature.dev_backups.yaml"))
	require.NoError(t, err)
	cluster := filepath.Join(t.TempDir(), "crd.yaml")
	text = bytes.Replace(text, []byte("scope: Namespaced"), []byte("scope: Cluster"), 1)
	require.NoError(t, os.WriteFile(cluster, text, 0o600))
	plan := func(o *v1.Backup, _ builder.View) builder.Plan[*v1.Backup] {
		return builder.Plan[*v1.Backup]{Children: []builder.Child{
			builder.Want(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "data", Name: o.Name}}),
		}}
	}
	role := func(crd string) error {
		var out bytes.Buffer
		return program.Run(t.Context(), program.Options{Name: "backup", AddToScheme: v1.AddToScheme, Setup: func(mgr manager.Manager) error {
			return builder.NewOperator[*v1.Backup](mgr, "backup").Owns(&corev1.ConfigMap{}).Plan(plan).Complete()
		}}, []string{"role", "-crds", crd, "-samples", sample}, &out)
	}
	require.NoError(t, role(cluster))
	require.ErrorContains(t, role(crds), "metadata.namespace of *v1.ConfigMap data/")
}

func TestWrongArguments(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	const group = "apiVersion: examples.armature.dev/v1\n"
	typo := write("typo.yaml", group+"kind: Backup\nspec: {typo: 1}\n")
	for message, args := range map[string][]string{
		`there is no command "rule"; there are preview and role, and without a command the operators run`: {"rule"},
		`backup: unknown argument "now"`:                           {"-metrics-bind-address=0", "now"},
		`backup preview: unknown argument "now"`:                   {"preview", "now"},
		`backup role: unknown argument "now"`:                      {"role", "now"},
		`no such file or directory`:                                {"role", "-samples", filepath.Join(dir, "missing.yaml")},
		`unknown.yaml: no kind "Unknown" is registered`:            {"role", "-samples", write("unknown.yaml", group+"kind: Unknown\n")},
		`list.yaml: *v1.BackupList is not an object`:               {"role", "-samples", write("list.yaml", group+"kind: BackupList\n")},
		`unknown field "spec.typo"`:                                {"role", "-samples", typo},
		`-watch-namespaces: "" can't be a namespace's name`:        {"-watch-namespaces=a,"},
		`-watch-namespaces: " b" can't be a namespace's name`:      {"preview", "-watch-namespaces=a, b"},
		`invalid configuration`:                                    {"-kubeconfig", write("kubeconfig", "kind: Config\ncurrent-context: none\n")},
		filepath.Join(dir, "none") + `: no such file or directory`: {"preview", "-kubeconfig", filepath.Join(dir, "none")},
	} {
		_, err := run(t, args...)
		assert.ErrorContains(t, err, message, args)
	}
	assert.Panics(t, func() { program.NewScheme(func(*runtime.Scheme) error { return os.ErrInvalid }) })
}
