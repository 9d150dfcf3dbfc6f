package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"

	ours "github.com/armature-dev/armature/config/crd"
)

// schemasOfKinds returns the schemas of all kinds, by kind.
func schemasOfKinds(t *testing.T) map[string]*structural.Structural {
	crds, err := ours.All()
	require.NoError(t, err)
	schemas := map[string]*structural.Structural{}
	for _, u := range crds {
		var versioned apiextensionsv1.CustomResourceDefinition
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &versioned))
		for _, version := range versioned.Spec.Versions {
			var props apiextensions.JSONSchemaProps
			require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil))
			schema, err := structural.NewStructural(&props)
			require.NoError(t, err)
			schemas[versioned.Spec.Names.Kind] = schema
		}
	}
	require.NotEmpty(t, schemas)
	return schemas
}

// refusals returns what the CEL rules refuse in a write, as the API server evaluates them. A nil before is a create.
func refusals(t *testing.T, schema *structural.Structural, validator *cel.Validator, before, after map[string]any) field.ErrorList {
	var options []cel.Option
	var old any
	if before != nil {
		old = before
		options = append(options, cel.WithRatcheting(common.NewCorrelatedObject(after, before, &model.Structural{Structural: schema})))
	}
	errs, _ := validator.Validate(t.Context(), nil, schema, after, old, celconfig.RuntimeCELCostBudget, options...)
	return errs
}

// TestRulesOfTheWholeObjectAreTransitions holds that a new rule doesn't stop the objects stored before it. The API server skips a
// rule that fails if the value it belongs to is unchanged. A write of the status changes the object as a whole, so this never
// helps a rule of the whole object: the API server would refuse each status, and each removal of a finalizer, forever.
func TestRulesOfTheWholeObjectAreTransitions(t *testing.T) {
	for kind, schema := range schemasOfKinds(t) {
		for _, rule := range schema.XValidations {
			assert.Contains(t, rule.Rule, "oldSelf", "%s: the rule %q is one of the whole object, so it must accept what is unchanged: move it to "+
				"the type of spec, or compare with oldSelf, with optionalOldSelf=true if it holds at the creation, too", kind, rule.Message)
		}
	}
}

// TestAnObjectOlderThanARule stores objects that today's rules refuse, as an earlier version of the CRD let them in.
func TestAnObjectOlderThanARule(t *testing.T) {
	const (
		longName  = "a-name-of-fifty-three-characters-aaaaaaaaaaaaaaaaaaaa"
		miniSpec  = `{size: 2, containers: [{image: i}]}`
		jobOfTwo  = `{replicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: c}]}}}}}`
		jobOfTen  = `{replicaSpecs: {Worker: {replicas: 10, template: {spec: {containers: [{name: c}]}}}}}`
		jobOfMany = `{replicaSpecs: {Worker: {replicas: 11, template: {spec: {containers: [{name: c}]}}}}}`
		aType     = `{replicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: c}]}}}, Evaluator: {template: {spec: {containers: [{name: c}]}}}}}`
	)
	tests := map[string]struct {
		kind, name, spec, status string
		refused                  string // what a create refuses
		valid, invalid           string // an edit of the spec that is accepted, and one that is refused
		edit                     string // what the second one is refused with
	}{
		"FluxJob: name": {kind: "FluxJob", name: longName, spec: `{image: i}`, refused: "at most 52 lower case letters", valid: `{image: j}`},
		"FluxSetup: name": {kind: "FluxSetup", name: strings.Repeat("a", 64), spec: `{cohort: c}`, refused: "at most 63 characters",
			valid: `{cohort: d}`},
		"MiniCluster: name": {kind: "MiniCluster", name: longName, spec: miniSpec, refused: "at most 52 lower case letters",
			valid: `{size: 3, containers: [{image: i}]}`},
		"MiniCluster: minSize": {kind: "MiniCluster", name: "a", spec: `{size: 2, minSize: 3, containers: [{image: i}]}`, refused: "under minSize",
			valid: `{size: 3, minSize: 3, containers: [{image: i}]}`, invalid: `{size: 1, minSize: 3, containers: [{image: i}]}`, edit: "under minSize"},
		"MiniCluster: maximumSize": {kind: "MiniCluster", name: "a", spec: `{size: 4, containers: [{image: i}]}`,
			status: `{startTime: "2026-01-01T00:00:00Z", maximumSize: 2}`,
			valid:  `{size: 2, containers: [{image: i}]}`, invalid: `{size: 3, containers: [{image: i}]}`, edit: "status.maximumSize"},
		"ReplicaJob: name": {kind: "ReplicaJob", name: "a.b", spec: jobOfTwo, refused: "must be a DNS label", valid: jobOfTen},
		"ReplicaJob: names of pods": {kind: "ReplicaJob", name: strings.Repeat("a", 56), spec: jobOfTen, refused: "at most 63 characters",
			valid: jobOfTwo, invalid: jobOfMany, edit: "at most 63 characters"},
		"ReplicaJob: names of pods of a new type": {kind: "ReplicaJob", name: strings.Repeat("a", 56), spec: jobOfTwo,
			refused: "at most 63 characters", invalid: aType, edit: "at most 63 characters"},
	}
	schemas, validators := schemasOfKinds(t), map[string]*cel.Validator{}
	for _, tt := range tests {
		if validators[tt.kind] == nil {
			validators[tt.kind] = cel.NewValidator(schemas[tt.kind], true, celconfig.PerCallLimit)
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			schema := schemas[tt.kind]
			object := func(spec, status string) map[string]any {
				obj := map[string]any{"apiVersion": "api.practice.com/v1alpha1", "kind": tt.kind, "metadata": map[string]any{"name": tt.name}}
				obj["spec"] = decode(t, spec)
				if status != "" {
					obj["status"] = decode(t, status)
				}
				defaulting.Default(obj, schema)
				return obj
			}
			refusals := func(before, after map[string]any) field.ErrorList {
				return refusals(t, schema, validators[tt.kind], before, after)
			}
			stored := object(tt.spec, tt.status)
			written := object(tt.spec, tt.status)
			require.NoError(t, unstructured.SetNestedField(written, int64(1), "status", "observedGeneration"))
			assert.Empty(t, refusals(stored, written), "a write of the status")
			released := object(tt.spec, tt.status)
			require.NoError(t, unstructured.SetNestedField(released, "2026-01-01T00:00:00Z", "metadata", "deletionTimestamp"))
			assert.Empty(t, refusals(stored, released), "a removal of a finalizer")

			if tt.refused != "" {
				assert.ErrorContains(t, refusals(nil, object(tt.spec, "")).ToAggregate(), tt.refused, "a create")
			}
			if tt.valid != "" {
				assert.Empty(t, refusals(stored, object(tt.valid, tt.status)), "an edit of the spec")
			}
			if tt.invalid != "" {
				assert.ErrorContains(t, refusals(stored, object(tt.invalid, tt.status)).ToAggregate(), tt.edit, "an edit of the spec")
			}
		})
	}
}

// decode reads an object as the API server does: whole numbers are integers.
func decode(t *testing.T, text string) map[string]any {
	asJSON, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(asJSON, &fields))
	return fields
}
