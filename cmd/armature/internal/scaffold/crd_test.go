package scaffold

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// schemaCRD is a CustomResourceDefinition with a schema.
func schemaCRD(schema string) string {
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tests.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Test, plural: tests}
  versions:
  - name: v1beta1
    storage: true
    served: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: ` + schema + "\n"
}

func TestTypesOfASchema(t *testing.T) {
	k, notes, err := FromCRD([]byte(schemaCRD(`{type: object, required: [spec], properties: {
  spec: {type: object, required: [size, mode, part, port, key], properties: {
    size: {type: integer, format: int32, minimum: 3},
    big: {type: integer},
    mode: {type: string, enum: [Fast, Slow]},
    key: {type: string, pattern: "^k[0-9]{9}$"},
    active: {type: boolean, default: true},
    when: {type: string, format: date-time},
    port: {x-kubernetes-int-or-string: true},
    memory: {x-kubernetes-int-or-string: true, pattern: "^([0-9]+)(m|Ki|Mi)?$"},
    any: {x-kubernetes-preserve-unknown-fields: true},
    labels: {type: object, additionalProperties: {type: string}},
    part: {type: object, required: [name], properties: {name: {type: string, minLength: 5}, list: {type: array, items: {type: object, properties: {a-b: {type: number}}}}}}}},
  status: {type: object, properties: {conditions: {type: array, items: {type: object, properties: {
    type: {type: string}, status: {type: string}, reason: {type: string}, message: {type: string}, lastTransitionTime: {type: string, format: date-time}}}}}}}}`)), "")
	require.NoError(t, err)
	assert.True(t, k.Conditions)
	assert.Equal(t, "v1beta1", k.APIVersion)
	for _, line := range []string{
		"Size int32 `json:\"size\"`", "Big *int64 `json:\"big,omitempty\"`", "Mode string `json:\"mode\"`", "Active *bool `json:\"active,omitempty\"`",
		"When *metav1.Time `json:\"when,omitempty\"`", "Port intstr.IntOrString `json:\"port\"`", "Memory *resource.Quantity `json:\"memory,omitempty\"`",
		"Any *apiextensionsv1.JSON `json:\"any,omitempty\"`",
		"Labels map[string]string `json:\"labels,omitempty\"`", "Part TestSpecPart `json:\"part\"`", "List []TestSpecPartListItem `json:\"list,omitempty\"`",
		"AB *float64 `json:\"a-b,omitempty\"`", "Conditions []metav1.Condition `json:\"conditions,omitempty\"`",
	} {
		assert.Contains(t, k.Schema.Types, line)
	}
	assert.Equal(t, []string{`spec.key (pattern "^k[0-9]{9}$")`}, notes, "no usual text fits")
	assert.Equal(t, `apiVersion: example.com/v1beta1
kind: Test
metadata:
  name: demo
spec:
  key: demo
  mode: Fast
  part:
    name: 1.0.0
  port: 1
  size: 3
`, k.Sample)
	_, err = New(Project{Name: "a", Module: "example.com/a", Armature: "v0.1.0"}, k)
	assert.NoError(t, err, "the types are Go")
}

func TestCRDsThatAreRefused(t *testing.T) {
	whole := schemaCRD(`{type: object, properties: {spec: {type: object}}}`)
	for want, text := range map[string]string{
		"there is no CustomResourceDefinition":        "kind: ConfigMap\n",
		"the kind Test is cluster-scoped":             strings.Replace(whole, "Namespaced", "Cluster", 1),
		"no version of the kind Test is stored":       strings.Replace(whole, "storage: true", "storage: false", 1),
		"there are several kinds; select one":         whole + "---\n" + strings.ReplaceAll(whole, "Test", "Other"),
		`has the field "data" beside spec and status`: schemaCRD(`{type: object, properties: {data: {type: object}}}`),
		"apiextensions.k8s.io/v1beta1; it must be of": strings.Replace(whole, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1),
	} {
		_, _, err := FromCRD([]byte(text), "")
		assert.ErrorContains(t, err, want)
	}
	_, _, err := FromCRD([]byte(whole), "Absent")
	assert.EqualError(t, err, "there is no kind Absent; there are Test")
}
