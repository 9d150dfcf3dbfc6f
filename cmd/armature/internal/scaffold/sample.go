package scaffold

import (
	"fmt"
	"math"
	"regexp"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// sampler makes a value that a schema accepts.
type sampler struct {
	notes []string // fields for which it found none
}

// value returns a value with the fields that a schema requires, without those that have a default.
func (s *sampler) value(path string, schema *apiextensionsv1.JSONSchemaProps) any {
	if len(schema.Enum) > 0 {
		return decode(&schema.Enum[0])
	}
	if schema.XIntOrString {
		return 1
	}
	switch schema.Type {
	case "boolean":
		return true
	case "integer":
		return int64(s.number(path, schema))
	case "number":
		return s.number(path, schema)
	case "string":
		return s.text(path, schema)
	case "array":
		return s.list(path, schema)
	default:
		return s.object(path, schema)
	}
}

func (s *sampler) object(path string, schema *apiextensionsv1.JSONSchemaProps) map[string]any {
	object := map[string]any{}
	for _, key := range schema.Required {
		property, ok := schema.Properties[key]
		if ok && property.Default == nil {
			object[key] = s.value(path+"."+key, &property)
		}
	}
	if len(schema.XValidations) > 0 {
		s.notes = append(s.notes, path+" (it has rules)")
	}
	return object
}

func (s *sampler) list(path string, schema *apiextensionsv1.JSONSchemaProps) []any {
	list := []any{}
	if schema.MinItems == nil || schema.Items == nil || schema.Items.Schema == nil {
		return list
	}
	for range *schema.MinItems {
		list = append(list, s.value(path+"[]", schema.Items.Schema))
	}
	if len(list) > 1 {
		s.notes = append(s.notes, path+" (its elements are the same)")
	}
	return list
}

// number returns the number nearest to 1.
func (s *sampler) number(_ string, schema *apiextensionsv1.JSONSchemaProps) float64 {
	n := 1.0
	if schema.MultipleOf != nil {
		n = *schema.MultipleOf
	}
	if schema.Minimum != nil && n <= *schema.Minimum {
		n = *schema.Minimum
		if schema.ExclusiveMinimum {
			n++
		}
	}
	if schema.Maximum != nil {
		n = math.Min(n, *schema.Maximum)
	}
	return n
}

// texts are values that schemas often ask for.
var texts = []string{
	"demo", "1", "1Gi", "1m", "1s", "v1", "1.0.0", "demo:1", "10.0.0.0/8", "10.0.0.1", "demo.example.com", "demo/demo", "https://example.com",
	"0 3 * * *", "2026-01-01T00:00:00Z", "2026-01-01", "ZGVtbw==", "demo@example.com", "00000000-0000-0000-0000-000000000000",
	"/demo", "DEMO", "Demo",
	"s3://demo/demo",
}

// formats are values of the formats that the API server checks.
var formats = map[string]string{
	"date-time": "2026-01-01T00:00:00Z", "date": "2026-01-01", "duration": "1m", "byte": "ZGVtbw==", "uri": "https://example.com",
	"email": "demo@example.com",
	"uuid":  "00000000-0000-0000-0000-000000000000", "ipv4": "10.0.0.1", "ipv6": "::1", "cidr": "10.0.0.0/8", "hostname": "demo.example.com",
}

// text returns the first of the usual texts that the schema accepts.
func (s *sampler) text(path string, schema *apiextensionsv1.JSONSchemaProps) string {
	candidates := texts
	if value, ok := formats[schema.Format]; ok {
		candidates = append([]string{value}, texts...)
	}
	pattern, err := regexp.Compile(schema.Pattern)
	fits := func(text string) bool {
		length := int64(len(text))
		return err == nil && pattern.MatchString(text) &&
			(schema.MinLength == nil || length >= *schema.MinLength) && (schema.MaxLength == nil || length <= *schema.MaxLength)
	}
	if i := slices.IndexFunc(candidates, fits); i >= 0 {
		return candidates[i]
	}
	s.notes = append(s.notes, fmt.Sprintf("%s (pattern %q)", path, schema.Pattern))
	return candidates[0]
}
