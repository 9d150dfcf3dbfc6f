package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// pageOf writes the page of a kind.
func pageOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	var b strings.Builder
	names := crd.Spec.Names
	version := crd.Spec.Versions[len(crd.Spec.Versions)-1]
	root := version.Schema.OpenAPIV3Schema
	fmt.Fprintf(&b, "# %s\n\n<!-- Generated from the types by make generate. -->\n\n%s\n\n", names.Kind, text(root.Description))
	fmt.Fprintf(&b, "| | |\n|---|---|\n| apiVersion | `%s/%s` |\n| kind | `%s` |\n", crd.Spec.Group, version.Name, names.Kind)
	called := append([]string{names.Plural, names.Singular}, names.ShortNames...)
	fmt.Fprintf(&b, "| kubectl knows it as | `%s` |\n| scope | %s |\n", strings.Join(called, "`, `"), crd.Spec.Scope)
	for _, rule := range rules(root) {
		fmt.Fprintf(&b, "| rule | %s |\n", rule)
	}
	for _, part := range []string{"spec", "status"} {
		schema, ok := root.Properties[part]
		if !ok {
			continue
		}
		field(&b, part, &schema, slices.Contains(root.Required, part))
	}
	return b.String()
}

// field writes what there is to say of a field and those within it.
func field(b *strings.Builder, path string, s *apiextensionsv1.JSONSchemaProps, required bool) {
	facts := []string{typeOf(s)}
	if required {
		facts = append(facts, "required")
	}
	if s.Default != nil {
		facts = append(facts, "default `"+string(s.Default.Raw)+"`")
	}
	heading := "###"
	if !strings.Contains(path, ".") {
		heading = "##"
	}
	fmt.Fprintf(b, "\n%s %s\n\n%s", heading, strings.ReplaceAll(path, "<", "&lt;"), strings.Join(facts, ", "))
	if !within(s) {
		b.WriteString("; its fields are those of Kubernetes' own type, which `kubectl explain` has")
	}
	b.WriteString("\n")
	if s.Description != "" {
		fmt.Fprintf(b, "\n%s\n", text(s.Description))
	}
	if all := rules(s); len(all) > 0 {
		fmt.Fprintf(b, "\nRules: %s.\n", strings.Join(all, "; "))
	}
	if !within(s) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child := s.Properties[name]
		field(b, path+"."+name, &child, slices.Contains(s.Required, name))
	}
	if s.Items != nil && s.Items.Schema != nil {
		fields(b, path+"[]", s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		fields(b, path+".<name>", s.AdditionalProperties.Schema)
	}
}

// fields writes the fields of a list's items, or of a map's values, which have no place of their own to tell of.
func fields(b *strings.Builder, path string, s *apiextensionsv1.JSONSchemaProps) {
	if !within(s) || len(s.Properties) == 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		child := s.Properties[name]
		field(b, path+"."+name, &child, slices.Contains(s.Required, name))
	}
}

// within reports whether a schema's fields have descriptions of their own: those of an embedded type have none.
func within(s *apiextensionsv1.JSONSchemaProps) bool {
	described, fields := false, false
	visit(s, func(child *apiextensionsv1.JSONSchemaProps) {
		fields = true
		described = described || child.Description != ""
	})
	return described || !fields
}

// visit calls a function for each field below a schema.
func visit(s *apiextensionsv1.JSONSchemaProps, do func(*apiextensionsv1.JSONSchemaProps)) {
	for _, child := range s.Properties {
		do(&child)
		visit(&child, do)
	}
	if s.Items != nil && s.Items.Schema != nil {
		visit(s.Items.Schema, do)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		visit(s.AdditionalProperties.Schema, do)
	}
}

func typeOf(s *apiextensionsv1.JSONSchemaProps) string {
	switch {
	case s.XIntOrString:
		return "integer or string"
	case s.Items != nil && s.Items.Schema != nil:
		return "list of " + typeOf(s.Items.Schema) + "s"
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		return "map of " + typeOf(s.AdditionalProperties.Schema) + "s"
	case s.Format == "date-time":
		return "time"
	}
	return s.Type
}

// text is a description as a paragraph of its own.
func text(description string) string {
	return strings.ReplaceAll(strings.TrimSpace(description), "<", "&lt;")
}
