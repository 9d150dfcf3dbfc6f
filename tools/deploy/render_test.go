package deploy

import (
	"bytes"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const chart = "../../charts/armature"

// object is a rendered manifest.
type object = map[string]any

// built are the tools, built once. Helm 3 has a module of its own, since both Helms are called helm.
var built = map[string]func() (string, error){
	"helm":      sync.OnceValues(func() (string, error) { return build(".", "helm") }),
	"helm3":     sync.OnceValues(func() (string, error) { return build("../helm3", "helm") }),
	"kustomize": sync.OnceValues(func() (string, error) { return build(".", "kustomize") }),
}

// build builds a tool of a module and returns where it is, or what the error is about.
func build(module, name string) (string, error) {
	out, err := exec.Command("go", "-C", module, "tool", "-n", name).Output()
	return strings.TrimSpace(string(out)), err
}

// tool runs a tool, and returns what it printed, or what it complained of.
func tool(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	path, err := built[name]()
	require.NoError(t, err)
	var out, complaints bytes.Buffer
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		return complaints.String(), err
	}
	return out.String(), nil
}

// chartWith renders the chart as the release armature in armature-system with these values: name=value, as in --set-json.
func chartWith(t *testing.T, values ...string) map[string]object {
	t.Helper()
	out, err := template(t, values...)
	require.NoError(t, err, out)
	return objects(t, out)
}

func template(t *testing.T, values ...string) (string, error) {
	t.Helper()
	return templateBy(t, "helm", values...)
}

// templateBy renders the chart by one of the Helms.
func templateBy(t *testing.T, helm string, values ...string) (string, error) {
	t.Helper()
	args := []string{"template", "armature", chart, "--namespace", "armature-system", "--kube-version", "1.33.0"}
	for _, v := range values {
		args = append(args, "--set-json", v)
	}
	return tool(t, helm, args...)
}

// kustomized renders a directory.
func kustomized(t *testing.T, dir string) map[string]object {
	t.Helper()
	out, err := tool(t, "kustomize", "build", dir)
	require.NoError(t, err, out)
	return objects(t, out)
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// objects returns what is in a stream of YAML by kind, namespace and name.
func objects(t *testing.T, stream string) map[string]object {
	t.Helper()
	all := map[string]object{}
	for _, text := range separator.Split(stream, -1) {
		var o object
		require.NoError(t, yaml.Unmarshal([]byte(text), &o), text)
		if o == nil {
			continue
		}
		key := keyOf(o)
		require.NotContains(t, all, key, "rendered twice")
		all[key] = o
	}
	return all
}

func keyOf(o object) string {
	meta := o["metadata"].(object)
	namespace, _ := meta["namespace"].(string)
	return strings.TrimPrefix(o["kind"].(string)+" "+namespace+"/"+meta["name"].(string), "/")
}

// at follows a path of names into a manifest; nil if there is nothing.
func at(o any, path ...string) any {
	for _, name := range path {
		m, ok := o.(object)
		if !ok {
			return nil
		}
		o = m[name]
	}
	return o
}

// container is the manager's container.
func container(t *testing.T, all map[string]object) object {
	t.Helper()
	containers, _ := at(all["Deployment armature-system/armature"], "spec", "template", "spec", "containers").([]any)
	require.Len(t, containers, 1)
	return containers[0].(object)
}
