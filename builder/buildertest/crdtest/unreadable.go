package crdtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
)

// odd are values at the edges of what Go's types read from JSON.
var odd = []any{
	"", "x", "1", "-1", "1h", "0x1",
	"2014-12-15T08:00:00Z", "2014-12-15t08:00:00z", "2014-12-15T08:00:00z", "2014-12-15T08:00:00+99:99", "2014-12-15T08:00:00x5Z",
	"2014-12-15T08:00:60Z", "2014-12-15T24:00:00Z", "2014-12-15T08:00:00,5Z", "2014-12-15T08:00:00-00:00",
	"2014-12-15T08:00:00." + strings.Repeat("1", 100) + "Z",
	"1E1", "1E+1", "1E1.5", "1E.5", "1E1.", "1E99999999999999999999", ".5", "5.", "1Ki",
	strings.Repeat("9", 100), "0." + strings.Repeat("9", 100),
	"1E1000", "1E-1000", "1e10000", strings.Repeat("1", 2000),
	"====", "YQ", "YQ==", "YQ==\n", "Y Q=", "8000%", "80%x",
	int64(0), int64(-1), int64(1 << 31), int64(-1<<31 - 1), int64(99999999999), int64(1<<63 - 1), 1.0, 1.5, 3e9, 1e20, -1e20, 1e300,
	true, map[string]any{}, []any{}, map[string]any{"a": "b"}, []any{"a"},
}

// slow are quantities that resource.ParseQuantity takes hours for, from about six digits on.
var slow = []string{"1E-9999999", "1E-999999999", "1E2200000000", "1e-12345678", "-1E-12345678"}

// Unreadable returns what the schemas of a CRD admit and the type of obj can't read, or reads too slowly: one line for each property,
// with its path. The function newObject returns a pointer to a new object of the Go type of a version, such as v1. Unreadable tries about
// sixty odd values at each property of each version, and no combinations. An error means that a schema can't be compiled.
func Unreadable(crd *apiextensionsv1.CustomResourceDefinition, newObject func(version string) any) ([]string, error) {
	var found []string
	for _, version := range crd.Spec.Versions {
		if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
			continue
		}
		s := search{newObject: func() any { return newObject(version.Name) }, found: map[string]string{}}
		if err := s.visit(version.Schema.OpenAPIV3Schema, nil); err != nil {
			return nil, fmt.Errorf("%s, version %s: %w", crd.Name, version.Name, err)
		}
		for _, path := range slices.Sorted(maps.Keys(s.found)) {
			found = append(found, fmt.Sprintf("%s, version %s: %s: %s", crd.Name, version.Name, path, s.found[path]))
		}
	}
	return found, nil
}

// search is a walk over one schema.
type search struct {
	newObject func() any
	found     map[string]string // by path
}

// anItem is the step of a path from a list to its items, and aKey that from a map to its values.
const (
	anItem = "[]"
	aKey   = "{}"
)

// visit tries values at a property and at those below it.
func (s *search) visit(props *apiextensionsv1.JSONSchemaProps, path []string) error {
	if len(path) > 0 && path[0] != "metadata" && path[0] != "apiVersion" && path[0] != "kind" { // the API server reads these itself
		if err := s.try(props, path); err != nil {
			return err
		}
	}
	for name, child := range props.Properties {
		if err := s.visit(&child, append(slices.Clone(path), name)); err != nil {
			return err
		}
	}
	if props.Items != nil && props.Items.Schema != nil {
		if err := s.visit(props.Items.Schema, append(slices.Clone(path), anItem)); err != nil {
			return err
		}
	}
	if props.AdditionalProperties != nil && props.AdditionalProperties.Schema != nil {
		return s.visit(props.AdditionalProperties.Schema, append(slices.Clone(path), aKey))
	}
	return nil
}

// try decodes each value that the schema of a property admits.
func (s *search) try(props *apiextensionsv1.JSONSchemaProps, path []string) error {
	leaf := *props
	leaf.XValidations, leaf.Required = nil, nil // rules see the whole object, and what is missing can be read
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&leaf, &internal, nil); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
	}
	validator, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(path, "."), err)
	}
	admitted := func(value any) bool { return len(validation.ValidateCustomResource(nil, value, validator)) == 0 }
	for _, value := range odd {
		if !admitted(value) {
			continue
		}
		text, err := json.Marshal(wrap(value, path))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, s.newObject()); err != nil {
			s.found[strings.Join(path, ".")] = fmt.Sprintf("the schema admits %#v, and the Go type doesn't read it: %v", value, err)
			return nil
		}
	}
	if !props.XIntOrString || props.Pattern == "" { // no quantity
		return nil
	}
	for _, value := range slow {
		if admitted(value) {
			s.found[strings.Join(path, ".")] = fmt.Sprintf("the schema admits %q, which a resource.Quantity takes hours to read", value)
		}
	}
	return nil
}

// wrap returns an object that has a value at a path.
func wrap(value any, path []string) any {
	for _, step := range slices.Backward(path) {
		switch step {
		case anItem:
			value = []any{value}
		case aKey:
			value = map[string]any{"x": value}
		default:
			value = map[string]any{step: value}
		}
	}
	return value
}
