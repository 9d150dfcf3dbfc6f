package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// findings returns what is found in a text, a line each.
func findings(t testing.TB, text string) string {
	t.Helper()
	docs, err := manifest.Parse("f", []byte(text))
	require.NoError(t, err)
	report, err := Documents(docs)
	require.NoError(t, err)
	var lines []string
	for _, f := range report.Findings {
		lines = append(lines, f.String())
	}
	return strings.Join(lines, "\n")
}

const flow = "apiVersion: api.practice.com/v1alpha1\nkind: JobFlow\n"

func TestFindings(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"nothing":                     {flow + "metadata: {name: a}\nspec:\n  flows: [{name: a, jobTemplateRef: t}]", ""},
		"a generated name":            {flow + "metadata: {generateName: a-}\nspec:\n  flows: [{name: a, jobTemplateRef: t}]", ""},
		"no name":                     {flow + "spec:\n  flows: [{name: a, jobTemplateRef: t}]", "f:1:1: JobFlow: metadata.name: Required value: name or generateName is required"},
		"a bad name":                  {flow + "metadata: {name: A}\nspec:\n  flows: [{name: a, jobTemplateRef: t}]", `f:3:12: JobFlow/A: metadata.name: Invalid value: "A": a lowercase RFC 1123`},
		"a wrong label":               {flow + "metadata:\n  name: a\n  labels: {a: 1}\nspec:\n  flows: [{name: a, jobTemplateRef: t}]", "f:5:3: JobFlow/a: metadata.labels: json: cannot unmarshal number"},
		"wrong metadata":              {flow + "metadata: 3\nspec: {}", "f:3:1: JobFlow: metadata: want an object, with a name"},
		"unknown":                     {flow + "metadata:\n  name: a\n  nme: b\nspec:\n  flws: []\n  flows: [{name: a, jobTemplateRef: t}]", "f:5:3: JobFlow/a: metadata.nme: unknown field\nf:7:3: JobFlow/a: spec.flws: unknown field"},
		"unknown, deep":               {flow + "metadata: {name: a}\nspec:\n  flows:\n  - name: a\n    jobTemplate:\n      template:\n        metadata: {lbls: {}}\n        spec:\n          containers:\n          - name: a\n            imag: b", "f:9:20: JobFlow/a: spec.flows[0].jobTemplate.template.metadata.lbls: unknown field\nf:13:13: JobFlow/a: spec.flows[0].jobTemplate.template.spec.containers[0].imag: unknown field"},
		"a wrong type":                {flow + "metadata: {name: a}\nspec:\n  parallelism: many\n  flows: [{name: a, jobTemplateRef: t}]", "f:5:3: JobFlow/a: spec.parallelism: Invalid value: \"string\": spec.parallelism in body must be of type integer"},
		"a rule":                      {flow + "metadata: {name: a}\nspec:\n  flows:\n  - name: a", "f:6:5: JobFlow/a: spec.flows[0]: Invalid value: exactly one of jobTemplate and jobTemplateRef must be set"},
		"the plan":                    {flow + "metadata: {name: a}\nspec:\n  flows:\n  - name: a\n    jobTemplateRef: t\n    dependencies:\n    - b", `f:9:7: JobFlow/a: spec.flows[0].dependencies[0]: flow "a": Not found: "b"`},
		"the plan, twice":             {flow + "metadata: {name: a}\nspec:\n  flows:\n  - {name: a, jobTemplateRef: t, dependencies: [c]}\n  - {name: a, jobTemplateRef: t}", "f:6:49: JobFlow/a: spec.flows[0].dependencies[0]: flow \"a\": Not found: \"c\"\nf:7:6: JobFlow/a: spec.flows[1].name: flow \"a\": Duplicate value: \"a\""},
		"unknown, and the plan":       {flow + "metadata: {name: a}\nspec:\n  flws: []\n  flows: [{name: a, jobTemplateRef: t, dependencies: [b]}]", "f:5:3: JobFlow/a: spec.flws: unknown field\nf:6:55: JobFlow/a: spec.flows[0].dependencies[0]: flow \"a\": Not found: \"b\""},
		"a bound, and the plan":       {flow + "metadata: {name: a}\nspec:\n  parallelism: 0\n  flows: [{name: a, jobTemplateRef: t, dependencies: [b]}]", "f:5:3: JobFlow/a: spec.parallelism: Invalid value: 0\nf:6:55: JobFlow/a: spec.flows[0].dependencies[0]: flow \"a\": Not found: \"b\""},
		"a rule, and the plan":        {flow + "metadata: {name: a}\nspec:\n  flows:\n  - name: a\n  - {name: b, jobTemplateRef: t, dependencies: [c]}", "f:6:5: JobFlow/a: spec.flows[0]: Invalid value: exactly one of jobTemplate and jobTemplateRef must be set\nf:7:49: JobFlow/a: spec.flows[1].dependencies[0]: flow \"b\": Not found: \"c\""},
		"one slip":                    {flow + "metadata: {name: a}\nspec:\n  flows:\n  - name: a\n    jobTemplate: {template: {spec: {containers: [{name: a, imge: b}]}}}", "f:7:60: JobFlow/a: spec.flows[0].jobTemplate.template.spec.containers[0].imge: unknown field"},
		"one slip in a name":          {flow + "metadata: {name: a}\nspec:\n  flows:\n  - {name: B, jobTemplateRef: t}", "f:6:6: JobFlow/a: spec.flows[0].name: Invalid value: \"B\""},
		"one slip in a list":          {"apiVersion: api.practice.com/v1alpha1\nkind: MiniCluster\nmetadata: {name: a}\nspec:\n  containers: []", "f:5:3: MiniCluster/a: spec.containers: Invalid value: 0: spec.containers in body should have at least 1 items"},
		"twice in the text":           {flow + "metadata: {name: a}\nspec:\n  flows: []\n  flows: [{name: a, jobTemplateRef: t}]", "f:6:3: JobFlow/a: spec.flows: the field is here twice; this value counts, the former doesn't"},
		"no kind":                     {"apiVersion: v1\n", `f:1:1: object: want apiVersion and kind, found apiVersion "v1" and kind ""`},
		"no kind of ours":             {"apiVersion: api.practice.com/v1alpha1\nkind: JobFlw\nmetadata: {name: a}", "f:2:1: JobFlw/a: kind: there is no JobFlw in api.practice.com/v1alpha1; the kinds are DaemonJob, FluxJob, FluxSetup, JobFlow, JobTemplate, MiniCluster, ReplicaJob"},
		"a quantity that takes hours": {flow + "metadata: {name: a}\nspec:\n  flows:\n  - name: a\n    jobTemplate: {template: {spec: {containers: [{name: a, resources: {limits: {cpu: \"1E-999999999\"}}}]}}}", `f:7:81: JobFlow/a: spec.flows[0].jobTemplate.template.spec.containers[0].resources.limits.cpu: Invalid value: "1E-999999999"`},
		"a status":                    {flow + "metadata: {name: a}\nspec:\n  flows: [{name: a, jobTemplateRef: t}]\nstatus: {state: Running}", ""},
		"no namespace":                {"apiVersion: api.practice.com/v1alpha1\nkind: FluxSetup\nmetadata: {name: a, namespace: b}\nspec: {}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := findings(t, tt.text)
			if tt.want == "" {
				assert.Empty(t, got)
				return
			}
			want, lines := strings.Split(tt.want, "\n"), strings.Split(got, "\n")
			require.Len(t, lines, len(want), got)
			for i := range want {
				assert.True(t, strings.HasPrefix(lines[i], want[i]), "got  %s\nwant %s", lines[i], want[i])
			}
		})
	}
}

// The default of miniCluster.size, 1, counts as not set: the queue chooses the size.
func TestTheQuorumOfAFluxJob(t *testing.T) {
	const under = "f:4:1: FluxJob/a: spec: Invalid value: the size is under miniCluster.minSize"
	for sizes, want := range map[string]string{
		"miniCluster: {minSize: 2":                      "",
		"miniCluster: {minSize: 2, maxSize: 2":          "",
		"size: 4, miniCluster: {minSize: 2":             "",
		"size: 4, miniCluster: {minSize: 4, size: 4":    "",
		"miniCluster: {minSize: 2, size: 3":             "",
		"size: 2, miniCluster: {minSize: 3":             under,
		"miniCluster: {minSize: 3, size: 2":             under,
		"size: 1, miniCluster: {minSize: 2":             under,
		"miniCluster: {minSize: 3, maxSize: 2":          "f:4:8: FluxJob/a: spec.miniCluster: Invalid value: minSize is over maxSize",
		"miniCluster: {minSize: 10001":                  "f:4:22: FluxJob/a: spec.miniCluster.minSize: Invalid value: 10001",
		"size: 2, miniCluster: {minSize: 3, maxSize: 4": under,
	} {
		got := findings(t, "apiVersion: api.practice.com/v1alpha1\nkind: FluxJob\nmetadata: {name: a}\n"+
			"spec: {"+sizes+", containers: [{image: i, command: c}]}}")
		if want == "" {
			assert.Empty(t, got, sizes)
		} else {
			assert.Contains(t, got, want, sizes)
		}
	}
}

// TestTheHousesManifests: what is shown to people, and used in tests, is well.
func TestTheHousesManifests(t *testing.T) {
	checked := 0
	err := filepath.WalkDir("../../../../examples", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".yaml" {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		docs, err := manifest.Parse(path, text)
		require.NoError(t, err)
		report, err := Documents(docs)
		require.NoError(t, err)
		assert.Empty(t, report.Findings)
		checked += report.Checked
		return nil
	})
	require.NoError(t, err)
	assert.Greater(t, checked, 30)
}

func TestSkipped(t *testing.T) {
	docs, err := manifest.Parse("f", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"))
	require.NoError(t, err)
	report, err := Documents(docs)
	require.NoError(t, err)
	assert.Equal(t, Report{Findings: []Finding{}, Skipped: []Skipped{{manifest.Place{File: "f", Line: 1, Column: 1}, "v1", "ConfigMap", "a"}}}, report)
	_, err = Document(docs[0])
	assert.ErrorContains(t, err, "f:2:1: /v1, Kind=ConfigMap is none of Armature's kinds")
}

func TestSplitProblems(t *testing.T) {
	for text, want := range map[string][]string{
		"something":                 {"something"},
		"spec.a: x; spec.b[0].c: y": {"spec.a: x", "spec.b[0].c: y"},
		`spec.a: it is a; b; flow "b": spec.flows[1].name: y; and 3 more`: {"spec.a: it is a; b", `flow "b": spec.flows[1].name: y`, "and 3 more"},
		"spec.a[example.com/b]: x":                                        {"spec.a[example.com/b]: x"},
	} {
		assert.Equal(t, want, splitProblems(text))
	}
}

// Whatever is broken in a manifest, it is judged: nothing panics.
func TestAnyObject(t *testing.T) {
	text, err := os.ReadFile("../../../../examples/jobflow/when.yaml")
	require.NoError(t, err)
	lines := strings.SplitAfter(string(text), "\n")
	rapid.Check(t, func(t *rapid.T) {
		broken := append([]string{}, lines...)
		for range rapid.IntRange(1, 3).Draw(t, "edits") {
			i := rapid.IntRange(0, len(broken)-1).Draw(t, "line")
			key, _, _ := strings.Cut(broken[i], ":")
			broken[i] = rapid.SampledFrom([]string{"", key + ": 3\n", key + ": x\n", key + ": []\n", key + ": {}\n", key + "x: y\n", key + ": null\n"}).Draw(t, "edit")
		}
		docs, _ := manifest.Parse("f", []byte(strings.Join(broken, "")))
		if _, err := Documents(docs); err != nil {
			t.Fatal(err)
		}
	})
}
