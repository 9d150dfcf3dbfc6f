package watchcmd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/config/crd"
)

// stateData has an object in every state of every kind, and what the commands make of it. test/integration/cli makes the same
// objects on a cluster.
const stateData = "../../../../test/integration/cli/testdata/"

// sampleState is an object in a state.
type sampleState struct {
	Kind    string         `json:"kind"`
	Variant string         `json:"variant"`
	Spec    map[string]any `json:"spec"`
	Status  map[string]any `json:"status"`
}

// name tells the objects apart.
func (s sampleState) name() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Kind, s.Status["state"], s.Variant))
}

// object returns the object, half an hour old.
func (s sampleState) object(now time.Time) *unstructured.Unstructured {
	spec := map[string]any{}
	maps.Copy(spec, s.Spec)
	switch s.Kind {
	case "JobFlow":
		spec["flows"] = []any{map[string]any{"name": "a", "jobTemplateRef": "t"}}
	case "ReplicaJob":
		spec["replicaSpecs"] = map[string]any{"Worker": map[string]any{"replicas": int64(2)}}
	case "MiniCluster":
		spec["size"] = int64(2)
	}
	s.Status["observedGeneration"] = int64(1)
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": s.Status}}
	u.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(s.Kind))
	u.SetName("it")
	u.SetNamespace("default")
	u.SetGeneration(1)
	u.SetCreationTimestamp(metav1.NewTime(now.Add(-30 * time.Minute)))
	if s.Status["state"] == "Terminating" {
		at := metav1.NewTime(now.Add(-time.Minute))
		u.SetDeletionTimestamp(&at)
		u.SetFinalizers([]string{"example.com/hold"})
	}
	return u
}

// TestEveryState: what explain, watch, tree and the columns say of every state of every kind is as in states.txt. A state that a
// kind has and the table hasn't fails the test. UPDATE_GOLDEN=1 writes the table, to be read.
func TestEveryState(t *testing.T) {
	text, err := os.ReadFile(stateData + "states.yaml")
	require.NoError(t, err)
	var samples []sampleState
	asJSON, err := yaml.YAMLToJSONStrict(text)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(asJSON, &samples)) // which keeps whole numbers, as the API server does
	crds, err := crd.All()
	require.NoError(t, err)

	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var b strings.Builder
	for _, u := range crds {
		var definition apiextensionsv1.CustomResourceDefinition
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &definition))
		version := definition.Spec.Versions[0]
		state, has := version.Schema.OpenAPIV3Schema.Properties["status"].Properties["state"]
		if !has {
			continue
		}
		var props apiextensions.JSONSchemaProps
		require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil))
		structure, err := structural.NewStructural(&props)
		require.NoError(t, err)
		known := map[string]bool{}
		for _, value := range state.Enum {
			known[strings.Trim(string(value.Raw), `"`)] = false
		}
		for _, s := range samples {
			if s.Kind != definition.Spec.Names.Kind {
				continue
			}
			is, _ := s.Status["state"].(string)
			_, isState := known[is]
			assert.True(t, isState, "%s: there is no such state", s.name())
			known[is] = true
			object := s.object(now)
			defaulting.Default(object.Object, structure)
			b.WriteString(whatIsSaid(t, s.name(), object, version.AdditionalPrinterColumns, now))
		}
		for state, hasRow := range known {
			assert.True(t, hasRow, "%s has the state %s: add a row to states.yaml, and see what is said of it", definition.Spec.Names.Kind, state)
		}
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(stateData+"states.txt", []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(stateData + "states.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

// whatIsSaid returns what is said of an object, as the table has it.
func whatIsSaid(t *testing.T, name string, u *unstructured.Unstructured, columns []apiextensionsv1.CustomResourceColumnDefinition, now time.Time) string {
	t.Helper()
	o := diagnose.NewObject(u, nil)
	found := diagnose.Diagnose(diagnose.Facts{Now: now, Root: o})

	k, err := find(u.GroupVersionKind())
	require.NoError(t, err)
	typed := k.object()
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed), name)
	p := k.picture(typed, now)
	watch := fmt.Sprintf("%s, %s", p.state, p.tally)
	if p.problem != "" {
		watch += "; " + p.problem
	}
	switch {
	case p.failed:
		watch += " (exit code 1)"
	case p.over:
		watch += " (exit code 0)"
	}

	convertor, err := tableconvertor.New(columns)
	require.NoError(t, err)
	table, err := convertor.ConvertToTable(context.Background(), u, nil)
	require.NoError(t, err)
	var cells []string
	for i, cell := range table.Rows[0].Cells {
		if c := table.ColumnDefinitions[i]; cell != nil && !slices.Contains([]string{"Name", "Age"}, c.Name) {
			cells = append(cells, fmt.Sprintf("%s=%v", c.Name, cell))
		}
	}
	explain := string(found.Phase)
	if found.Reason != "" {
		explain += ", " + found.Reason
	}
	return fmt.Sprintf("%s\n  explain  %s: %s\n  watch    %s\n  tree     %s\n  columns  %s\n",
		name, explain, found.Message, watch, diagnose.StateOf(o), strings.Join(cells, " "))
}
