package convert

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/cmd/armature/internal/lint"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

func originals(t testing.TB) []string {
	files, err := filepath.Glob("testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}

// converted returns what is made of a text, and what is said of it.
func converted(t require.TestingT, file string, text []byte) (result string, notes []string) {
	docs, err := manifest.Parse(file, text)
	require.NoError(t, err)
	made, err := Documents(docs, "")
	require.NoError(t, err)
	var parts []string
	for _, object := range made.Objects {
		part, err := yaml.Marshal(object)
		require.NoError(t, err)
		parts = append(parts, string(part))
	}
	for _, note := range made.Notes {
		notes = append(notes, note.String())
	}
	return strings.Join(parts, "---\n"), notes
}

// isWell holds what was made against the kinds' own rules.
func isWell(t require.TestingT, result string) {
	docs, err := manifest.Parse("result", []byte(result))
	require.NoError(t, err)
	report, err := lint.Documents(docs)
	require.NoError(t, err)
	require.Empty(t, report.Findings, result)
	require.Empty(t, report.Skipped)
}

// TestGolden: testdata/NAME.golden is what is made of testdata/NAME.yaml, and what is said of it. UPDATE_GOLDEN=1 writes
// them anew.
func TestGolden(t *testing.T) {
	for _, file := range originals(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			result, notes := converted(t, filepath.Base(file), text)
			isWell(t, result)
			got := "# " + strings.Join(notes, "\n# ") + "\n" + result
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if os.Getenv("UPDATE_GOLDEN") != "" {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}

// TestNothingIsDroppedSilently: a field that no converter knows is told of, wherever it is. It tries every place, because the places are few.
func TestNothingIsDroppedSilently(t *testing.T) {
	for _, file := range originals(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := manifest.Parse(file, text)
		require.NoError(t, err)
		for i := range parsed {
			var places []string
			objectsIn(parsed[i].Object.Object, "", &places)
			for _, place := range places {
				docs, err := manifest.Parse(file, text)
				require.NoError(t, err)
				at(docs[i].Object.Object, place)["novelty"] = "x"
				assert.True(t, isKept(t, docs, place+".novelty"), "novelty at %q of document %d of %s is neither carried over nor told of", place, i, file)
			}
		}
	}
}

// isKept reports whether a conversion names a field, or carries it over, in a template for lint to evaluate.
func isKept(t *testing.T, docs []*manifest.Document, field string) bool {
	t.Helper()
	made, err := Documents(docs, "")
	require.NoError(t, err)
	for _, note := range made.Notes {
		if rest, ok := strings.CutPrefix(field, note.Path); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return true // the note is about the field, or about an object that it is in
		}
	}
	text, err := yaml.Marshal(made.Objects)
	require.NoError(t, err)
	return strings.Contains(string(text), "novelty: x")
}

// objectsIn lists the paths of the objects in a value, but for those that servers write.
func objectsIn(value any, path string, places *[]string) {
	switch v := value.(type) {
	case map[string]any:
		if path != "" {
			*places = append(*places, path)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if path != "" || key != "status" {
				objectsIn(v[key], strings.TrimPrefix(path+"."+key, "."), places)
			}
		}
	case []any:
		for i, item := range v {
			objectsIn(item, fmt.Sprintf("%s[%d]", path, i), places)
		}
	}
}

// at returns the object at a path.
func at(object map[string]any, path string) map[string]any {
	var value any = object
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if list, ok := value.([]any); ok {
			var i int
			_, _ = fmt.Sscan(step, &i)
			value = list[i]
			continue
		}
		value = value.(map[string]any)[step]
	}
	return value.(map[string]any)
}

// TestAnyDAG: whatever DAG a workflow has, the flow that is made of it is well.
func TestAnyDAG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var tasks []any
		n := rapid.IntRange(1, 8).Draw(t, "tasks")
		for i := range n {
			task := map[string]any{"name": fmt.Sprintf("Task_%d", i), "template": rapid.SampledFrom([]string{"run", "nested", "steps"}).Draw(t, "template")}
			var on []string
			for j := range i {
				if rapid.Bool().Draw(t, "depends") {
					on = append(on, fmt.Sprintf("Task_%d", j))
				}
			}
			switch rapid.IntRange(0, 3).Draw(t, "how") {
			case 0:
				task["dependencies"] = anys(on)
			case 1:
				task["depends"] = strings.Join(on, " || ")
			case 2:
				if len(on) > 0 {
					task["depends"] = "!(" + strings.Join(on, ".Failed && ") + ".Succeeded)"
				}
			case 3:
				task["dependencies"] = anys(on)
				task["continueOn"] = map[string]any{"failed": true}
				task["when"] = "{{inputs.parameters.x}} == y"
			}
			tasks = append(tasks, task)
		}
		step := func(name string) any { return map[string]any{"name": name, "template": "run"} }
		text, err := yaml.Marshal(map[string]any{
			"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": map[string]any{"name": "w"},
			"spec": map[string]any{"entrypoint": "dag", "templates": []any{
				map[string]any{"name": "dag", "dag": map[string]any{"tasks": tasks}},
				map[string]any{"name": "nested", "dag": map[string]any{"tasks": []any{step("a"), map[string]any{"name": "b", "template": "run", "dependencies": []any{"a"}}}}},
				map[string]any{"name": "steps", "steps": []any{[]any{step("a"), step("b")}, []any{step("c")}}},
				map[string]any{"name": "run", "container": map[string]any{"image": "busybox:1.28"}},
			}},
		})
		require.NoError(t, err)
		result, _ := converted(t, "f", text)
		isWell(t, result)
	})
}

func TestWhatCannotBeConverted(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: argoproj.io/v1alpha1\nkind: CronWorkflow": "f:2:1: CronWorkflow/: the kind (argoproj.io/v1alpha1) " +
			"can't be converted; these can: Volcano's JobFlow and JobTemplate, Argo's Workflow, JobSet, kubeflow's TrainJob, JAXJob, MPIJob,",
		"apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nspec: {entrypoint: a}": `f:2:1: Workflow/: spec.entrypoint: there is no template "a" among spec.templates`,
	} {
		docs, err := manifest.Parse("f", []byte(text))
		require.NoError(t, err)
		_, err = Documents(docs, "")
		assert.ErrorContains(t, err, want)
	}
	docs, err := manifest.Parse("f", []byte("apiVersion: kubeflow.org/v1\nkind: TFJob\n---\napiVersion: v1\nkind: Secret"))
	require.NoError(t, err)
	result, err := Documents(docs, "argo")
	require.NoError(t, err)
	assert.Len(t, result.Others, 2, "only what was asked for")
}

// A value that counts for nothing, since a later one of the same name does, is a loss.
func TestRepeatedFieldsAreNoted(t *testing.T) {
	_, notes := converted(t, "f", []byte("apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\nspec:\n"+
		"  entrypoint: a\n  parallelism: 1\n  parallelism: 2\n  templates:\n  - name: a\n    container: {image: a, image: b}\n"))
	assert.Equal(t, []string{
		"f:7:3: Workflow/w: spec.parallelism: the field is here twice; this value counts, the former doesn't",
		"f:10:27: Workflow/w: spec.templates[0].container.image: the field is here twice; this value counts, the former doesn't",
	}, notes)
}
