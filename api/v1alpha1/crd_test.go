package v1alpha1_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// crd is as much of a CustomResourceDefinition as the tests look at.
type crd struct {
	Spec struct {
		Names struct {
			Kind       string
			ShortNames []string
		}
		Versions []struct {
			Schema                   struct{ OpenAPIV3Schema *spec.Schema }
			AdditionalPrinterColumns []column
			Subresources             map[string]any
		}
	}
}

type column struct {
	Name, JSONPath string
	Priority       int
}

func readCRD(t *testing.T, plural string) (definition crd, size int) {
	text, err := os.ReadFile(filepath.Join("../../config/crd", v1alpha1.GroupVersion.Group+"_"+plural+".yaml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &definition))
	compact, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	return definition, len(compact)
}

func TestCRDs(t *testing.T) {
	status := column{Name: "Status", JSONPath: ".status.state"}
	progress := column{Name: "Progress", JSONPath: ".status.progress"}
	age := column{Name: "Age", JSONPath: ".metadata.creationTimestamp"}
	tests := map[string]struct {
		kind, short string
		columns     []column
		hasStatus   bool
	}{
		"daemonjobs": {"DaemonJob", "dj", []column{
			status,
			{Name: "Desired", JSONPath: ".status.desired"}, {Name: "Active", JSONPath: ".status.active"},
			{Name: "Succeeded", JSONPath: ".status.succeeded"}, {Name: "Failed", JSONPath: ".status.failed"}, age,
		}, true},
		"fluxjobs": {"FluxJob", "fj", []column{
			status, {Name: "Queue", JSONPath: ".status.queue"}, {Name: "Position", JSONPath: ".status.position"},
			{Name: "Size", JSONPath: ".status.size"}, {Name: "Exit", JSONPath: ".status.exitCode"}, age,
		}, true},
		"fluxsetups": {"FluxSetup", "fs", []column{
			{Name: "Strategy", JSONPath: ".spec.queueingStrategy"}, {Name: "Cohort", JSONPath: ".spec.cohort"},
			{Name: "Pending", JSONPath: ".status.pendingWorkloads"}, {Name: "Admitted", JSONPath: ".status.admittedWorkloads"},
			{Name: "Oldest-Pending", JSONPath: ".status.oldestPendingTime"}, age,
		}, true},
		"jobflows":     {"JobFlow", "jf", []column{status, progress, age}, true},
		"jobtemplates": {"JobTemplate", "jt", []column{age}, false},
		"miniclusters": {"MiniCluster", "mc", []column{
			status, {Name: "Size", JSONPath: ".spec.size"}, {Name: "Ready", JSONPath: ".status.readyPods"},
			{Name: "Exit", JSONPath: ".status.exitCode"}, age,
		}, true},
	}
	for plural, tt := range tests {
		t.Run(plural, func(t *testing.T) {
			definition, size := readCRD(t, plural)
			assert.Equal(t, tt.kind, definition.Spec.Names.Kind)
			assert.Equal(t, []string{tt.short}, definition.Spec.Names.ShortNames)
			assert.Less(t, size, 256<<10, "kubectl apply without --server-side copies it into an annotation of at most 256 KiB")
			require.Len(t, definition.Spec.Versions, 1)
			version := definition.Spec.Versions[0]
			var shown []column
			for _, c := range version.AdditionalPrinterColumns {
				if c.Priority == 0 {
					shown = append(shown, c)
				}
			}
			assert.Equal(t, tt.columns, shown)
			assert.Equal(t, tt.hasStatus, version.Subresources["status"] != nil)
		})
	}
}

func TestEveryFieldOfOursIsDescribed(t *testing.T) {
	embedded := map[string]bool{"env": true, "shareVolumes": true, "shareVolumeMounts": true, "jobTemplate": true, "metadata": true,
		"template": true, "excludeNodeSelector": true, "selector": true, "podFailurePolicy": true, "successPolicy": true, "scheduling": true,
		"resources": true, "securityContext": true, "resourceClaims": true, "tolerations": true}
	var walk func(t *testing.T, path string, s *spec.Schema)
	walk = func(t *testing.T, path string, s *spec.Schema) {
		for name := range s.Properties {
			property := s.Properties[name]
			at := path + "." + name
			if path != "" || name != "metadata" { // the object's own metadata is described by the API server
				assert.NotEmpty(t, property.Description, at)
			}
			if !embedded[name] {
				walk(t, at, &property)
				if property.Items != nil {
					walk(t, at+"[]", property.Items.Schema)
				}
			}
		}
	}
	for _, plural := range plurals(t) {
		definition, _ := readCRD(t, plural)
		walk(t, "", definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
}

// TestExamples reads each example as the API server does: strictly, by the types and by the CRD's schema.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/[djm]*/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	schemas := map[string]*spec.Schema{}
	for _, plural := range plurals(t) {
		definition, _ := readCRD(t, plural)
		schemas[definition.Spec.Names.Kind] = definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	}
	for _, file := range append(files, "../../examples/jobflow/testdata/seed.yaml", "../../examples/daemonjob/testdata/seed.yaml") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
				var untyped map[string]any
				require.NoError(t, yaml.Unmarshal(document, &untyped))
				kind, _ := untyped["kind"].(string)
				typed, err := scheme.New(v1alpha1.GroupVersion.WithKind(kind))
				require.NoError(t, err)
				require.NoError(t, yaml.UnmarshalStrict(document, typed))
				assert.NoError(t, check(schemas[kind], untyped))
				again, err := json.Marshal(typed)
				require.NoError(t, err)
				var sent map[string]any
				require.NoError(t, json.Unmarshal(again, &sent))
				assert.NoError(t, check(schemas[kind], sent), "as a Go client sends it")
			}
		})
	}
}

// TestSchemaAdmits holds what must reach the operator, so that it can say by condition what is wrong.
func TestSchemaAdmits(t *testing.T) {
	const template = `{template: {metadata: {creationTimestamp: null, labels: {a: b}}, spec: {containers: [{name: c}]}}}`
	tests := map[string]struct{ spec, refused string }{
		"duplicate names":              {`{flows: [{name: a, jobTemplate: T}, {name: a, jobTemplate: T}]}`, ""},
		"unknown dependency":           {`{flows: [{name: a, dependencies: [x], jobTemplate: T}]}`, ""},
		"cycle":                        {`{flows: [{name: a, dependencies: [b], jobTemplate: T}, {name: b, dependencies: [a], jobTemplate: T}]}`, ""},
		"neither template":             {`{flows: [{name: a}]}`, ""},
		"both templates":               {`{flows: [{name: a, jobTemplate: T, jobTemplateRef: t}]}`, ""},
		"no flows":                     {`{flows: []}`, "at least 1"},
		"a list that isn't there":      {`{}`, "flows"},
		"a name that no Job can have":  {`{flows: [{name: A_b, jobTemplate: T}]}`, "name"},
		"a flow without a name":        {`{flows: [{jobTemplate: T}]}`, "name"},
		"a field that there isn't":     {`{flows: [{name: a, dependsOn: [x], jobTemplate: T}]}`, "dependsOn"},
		"a Job without a pod template": {`{flows: [{name: a, jobTemplate: {}}]}`, "template"},
		"a field that no Job has":      {`{flows: [{name: a, jobTemplate: {templates: {}, template: {spec: {containers: []}}}}]}`, "templates"},
		"a pod without containers":     {`{flows: [{name: a, jobTemplate: {template: {spec: {}}}}]}`, "containers"},
	}
	definition, _ := readCRD(t, "jobflows")
	schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var object map[string]any
			text := fmt.Sprintf("{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {name: x}, spec: %s}",
				strings.ReplaceAll(tt.spec, "T}", template+"}"))
			text = strings.ReplaceAll(text, "T,", template+",")
			require.NoError(t, yaml.Unmarshal([]byte(text), &object), text)
			err := check(schema, object)
			if tt.refused == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.refused)
			}
		})
	}
}

// check does what the API server does with strict field validation: by the schema, and no field that it doesn't know.
func check(schema *spec.Schema, object map[string]any) error {
	if err := unknown(schema, object, ""); err != nil {
		return err
	}
	return validate.NewSchemaValidator(schema, nil, "", strfmt.Default).Validate(withoutNulls(object)).AsError()
}

func unknown(schema *spec.Schema, value any, path string) error {
	switch value := value.(type) {
	case []any:
		for i, item := range value {
			if err := unknown(schema.Items.Schema, item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		if path == ".metadata" {
			return nil
		}
		for name, child := range value {
			property, ok := schema.Properties[name]
			if !ok && schema.AdditionalProperties != nil {
				property, ok = *schema.AdditionalProperties.Schema, true
			}
			if !ok {
				return fmt.Errorf("unknown field %s.%s", path, name)
			}
			if err := unknown(&property, child, path+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// withoutNulls drops nulls, as the API server does.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = withoutNulls(value[i])
		}
	case map[string]any:
		for name, child := range value {
			if child == nil {
				delete(value, name)
			} else {
				value[name] = withoutNulls(child)
			}
		}
	}
	return value
}

// plurals are the resources of all CRDs of ours.
func plurals(t *testing.T) []string {
	files, err := filepath.Glob("../../config/crd/*.yaml")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		names = append(names, strings.TrimPrefix(name, v1alpha1.GroupVersion.Group+"_"))
	}
	require.NotEmpty(t, names)
	return names
}
