package scaffold

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Schema has the Go types of a schema.
type Schema struct {
	Imports      []string // lines
	Types        string
	SpecRequired bool
}

// The packages that types can need.
const (
	importMeta   = `metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"`
	importJSON   = `apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"`
	importIntStr = `"k8s.io/apimachinery/pkg/util/intstr"`
	importQuant  = `"k8s.io/apimachinery/pkg/api/resource"`
)

// newSchema returns the types of a kind's spec and status, and whether the status has conditions.
func newSchema(kind string, root *apiextensionsv1.JSONSchemaProps, hasStatus bool) (*Schema, bool, error) {
	t := typist{imports: map[string]bool{importMeta: true}, names: map[string]bool{kind: true, kind + "List": true}}
	spec, status := root.Properties["spec"], root.Properties["status"]
	spec.Description = cmp.Or(spec.Description, kind+"Spec is the desired state.")
	status.Description = cmp.Or(status.Description, kind+"Status is the observed state.")
	t.object(kind+"Spec", &spec)
	t.object(kind+"Status", &status)
	if t.err != nil {
		return nil, false, t.err
	}
	conditions, found := status.Properties["conditions"]
	s := &Schema{
		Imports: slices.Sorted(maps.Keys(t.imports)), Types: strings.Join(t.types, "\n"), SpecRequired: slices.Contains(root.Required, "spec"),
	}
	return s, hasStatus && found && isConditions(&conditions), nil
}

// typist writes Go types.
type typist struct {
	imports map[string]bool
	names   map[string]bool // of types
	types   []string        // in the order in which they are begun
	err     error
}

// object writes a struct, after which come those of its fields.
func (t *typist) object(name string, schema *apiextensionsv1.JSONSchemaProps) {
	t.names[name] = true
	at := len(t.types)
	t.types = append(t.types, "")
	var b strings.Builder
	b.WriteString(comment("", schema.Description))
	fmt.Fprintf(&b, "type %s struct {\n", name)
	used := map[string]bool{}
	for _, key := range sorted(schema.Properties) {
		property := schema.Properties[key]
		field := unique(goName(key), used)
		required := slices.Contains(schema.Required, key)
		goType := t.typeOf(name+field, &property)
		tag := key
		if !required || property.Nullable {
			tag += ",omitempty"
			if isScalarOrStruct(goType) {
				goType = "*" + goType
			}
		}
		b.WriteString(comment("\t", property.Description))
		if !required {
			b.WriteString("\t// +optional\n")
		}
		if strings.ContainsAny(key, "`\",") {
			t.err = errors.Join(t.err, fmt.Errorf("the field %q of %s can't be one of a Go type", key, name))
		}
		fmt.Fprintf(&b, "\t%s %s `json:\"%s\"`\n", field, goType, tag)
	}
	b.WriteString("}\n")
	t.types[at] = b.String()
}

// typeOf returns the Go type of a value. name is that of a struct, if one is needed.
func (t *typist) typeOf(name string, schema *apiextensionsv1.JSONSchemaProps) string {
	use := func(line, goType string) string {
		t.imports[line] = true
		return goType
	}
	anything := func() string { return use(importJSON, "apiextensionsv1.JSON") }
	preserves := schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
	switch {
	case schema.XIntOrString && isQuantity(schema.Pattern):
		return use(importQuant, "resource.Quantity")
	case schema.XIntOrString:
		return use(importIntStr, "intstr.IntOrString")
	case preserves || schema.XEmbeddedResource:
		return anything()
	case isConditions(schema):
		return "[]metav1.Condition"
	}
	switch schema.Type {
	case "string":
		switch schema.Format {
		case "date-time":
			return "metav1.Time"
		case "byte":
			return "[]byte"
		}
		return "string"
	case "boolean":
		return "bool"
	case "number":
		return "float64"
	case "integer":
		if schema.Format == "int32" {
			return "int32"
		}
		return "int64"
	case "array":
		if schema.Items == nil || schema.Items.Schema == nil {
			return "[]" + anything()
		}
		return "[]" + t.typeOf(name+"Item", schema.Items.Schema)
	case "object":
		switch {
		case len(schema.Properties) > 0:
			name = unique(name, t.names)
			t.object(name, schema)
			return name
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil:
			return "map[string]" + t.typeOf(name+"Value", schema.AdditionalProperties.Schema)
		}
	}
	return anything()
}

// isQuantity reports whether a pattern is that of a resource.Quantity, such as 100m or 1Ki.
func isQuantity(pattern string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && pattern != "" && re.MatchString("100m") && re.MatchString("1Ki") && !re.MatchString("50%")
}

// isConditions reports whether a schema is that of a list of metav1.Condition.
func isConditions(schema *apiextensionsv1.JSONSchemaProps) bool {
	if schema.Type != "array" || schema.Items == nil || schema.Items.Schema == nil {
		return false
	}
	properties := schema.Items.Schema.Properties
	for _, name := range []string{"type", "status", "reason", "message", "lastTransitionTime"} {
		if _, ok := properties[name]; !ok {
			return false
		}
	}
	_, generation := properties["observedGeneration"]
	return len(properties) == 5 || len(properties) == 6 && generation
}

// isScalarOrStruct reports whether an optional field of a type needs a pointer, so that it can be absent.
func isScalarOrStruct(goType string) bool {
	return !strings.HasPrefix(goType, "[]") && !strings.HasPrefix(goType, "map[") && goType != "string"
}

// goName returns the name of a Go field for a JSON key.
func goName(key string) string {
	var b strings.Builder
	upper := true
	for _, r := range key {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			upper = true
			continue
		}
		if b.Len() == 0 && !unicode.IsLetter(r) {
			b.WriteString("Field")
		}
		if upper {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		upper = false
	}
	return cmp.Or(b.String(), "Field")
}

// unique returns a name that isn't used yet, and marks it.
func unique(name string, used map[string]bool) string {
	chosen := name
	for n := 2; used[chosen]; n++ {
		chosen = fmt.Sprint(name, n)
	}
	used[chosen] = true
	return chosen
}

// comment returns a text as comment lines of at most 120 characters.
func comment(indent, text string) string {
	var b strings.Builder
	line := ""
	flush := func() {
		if line != "" {
			b.WriteString(indent + "//" + line + "\n")
		}
		line = ""
	}
	for paragraph := range strings.SplitSeq(text, "\n") {
		for word := range strings.FieldsSeq(paragraph) {
			if strings.HasPrefix(word, "+") && line == "" {
				word = "\\" + word // no marker of controller-gen
			}
			if len(line)+len(word) > 116 {
				flush()
			}
			line += " " + word
		}
		flush()
	}
	return b.String()
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// decode returns the value of a default or an enum.
func decode(raw *apiextensionsv1.JSON) (value any) {
	if raw == nil || json.Unmarshal(raw.Raw, &value) != nil {
		return nil
	}
	return value
}
