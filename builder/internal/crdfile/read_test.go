package crdfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/internal/crdfile"
)

type definition struct {
	Spec struct {
		Group string `json:"group"`
	} `json:"spec"`
}

func groups(found []definition) (groups []string) {
	for _, d := range found {
		groups = append(groups, d.Spec.Group)
	}
	return groups
}

const (
	widgets = "kind: CustomResourceDefinition\nspec: {group: a.example.com, names: {kind: Widget}}\n"
	gadgets = "kind: CustomResourceDefinition\nspec: {group: b.example.com, names: {kind: Gadget}}\n"
)

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	both := write("crd/both.yaml", "\n---\nkind: ConfigMap\n---\n"+widgets+"---\n"+gadgets)
	below := write("crd/bases/gadgets.yaml", gadgets)
	kustomization := write("crd/patches/kustomization.yaml", "kind: Kustomization\n")
	write("crd/list.yaml", "- kind: CustomResourceDefinition\n")
	write("crd/README.md", "Text: [")
	other := write("crds.txt", widgets)

	found, err := crdfile.Read[definition](filepath.Join(dir, "crd"))
	require.NoError(t, err)
	assert.Equal(t, []string{"a.example.com", "b.example.com"}, groups(found), "nothing of the directories below")

	found, err = crdfile.Read[definition](both, below, other)
	require.NoError(t, err)
	assert.Equal(t, []string{"a.example.com", "b.example.com", "b.example.com", "a.example.com"}, groups(found))

	_, err = crdfile.Read[definition](below, filepath.Dir(kustomization))
	assert.EqualError(t, err, filepath.Dir(kustomization)+": no CustomResourceDefinition")

	_, err = crdfile.Read[definition](filepath.Join(dir, "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)

	broken := write("broken/broken.yaml", "kind: [")
	_, err = crdfile.Read[definition](filepath.Join(dir, "broken"))
	assert.ErrorContains(t, err, broken+": ")

	wrong := write("wrong.yaml", "kind: CustomResourceDefinition\nspec: {group: 1, names: {kind: Widget}}\n")
	_, err = crdfile.Read[definition](wrong)
	assert.ErrorContains(t, err, wrong+": json: cannot unmarshal number")
}
