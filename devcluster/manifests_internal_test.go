package devcluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func configMap(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n"
}

func TestManifestsOfADirectory(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml":             configMap("one") + "---\n---\n" + configMap("two"),
		"b.json":             `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "three"}}`,
		"kustomization.yaml": "resources: [a.yaml]\n",
		"notes.txt":          "not an object",
		// kubebuilder's config/crd has this file, which has neither apiVersion nor kind.
		"kustomizeconfig.yaml": "nameReference:\n- kind: Service\n  version: v1\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	all, err := readManifests([]string{dir})
	require.NoError(t, err)
	needed, rest := first(all)
	require.Len(t, needed, 1)
	assert.Equal(t, "three", needed[0].object.GetName(), "namespaces come first")
	require.Len(t, rest, 2)
	assert.Equal(t, "two", rest[1].object.GetName())
}

func TestManifestsSayWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	_, err := readManifests([]string{dir})
	require.ErrorContains(t, err, "no objects")
	_, err = readManifests([]string{filepath.Join(dir, "missing.yaml")})
	require.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(dir, "a.yaml")
	require.NoError(t, os.WriteFile(file, []byte("kind: ConfigMap\nmetadata: {name: x}\n"), 0o644))
	_, err = readManifests([]string{file})
	require.ErrorContains(t, err, "apiVersion")
	require.ErrorContains(t, err, file)
	_, err = readManifests([]string{dir})
	require.ErrorContains(t, err, file, "a half object of a directory is a mistake, too")
	require.NoError(t, os.WriteFile(file, []byte("nameReference: []\n"), 0o644))
	_, err = readManifests([]string{file})
	require.ErrorContains(t, err, "apiVersion", "a file that the test names has objects")
}
