package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

var separator = regexp.MustCompile(`(?m)^---.*\n`)

// FromCRD returns the kind of a CustomResourceDefinition in a YAML file: its types, a sample, and the definition itself. Of several
// definitions kind selects one; empty selects the only one. The version is the stored one. The notes name fields of the sample for which
// there is no value that the schema is known to accept.
func FromCRD(text []byte, kind string) (k Kind, notes []string, err error) {
	var kinds []string
	var crd *apiextensionsv1.CustomResourceDefinition
	for _, document := range separator.Split(string(text), -1) {
		one := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal([]byte(document), one); err != nil {
			return k, nil, err
		}
		if one.Kind != "CustomResourceDefinition" {
			continue
		}
		kinds = append(kinds, one.Spec.Names.Kind)
		if kind == "" || kind == one.Spec.Names.Kind {
			crd, k.CRD = one, append(bytes.TrimSpace([]byte(document)), '\n')
		}
	}
	switch {
	case len(kinds) == 0:
		return k, nil, errors.New("there is no CustomResourceDefinition")
	case crd == nil:
		return k, nil, fmt.Errorf("there is no kind %s; there are %s", kind, strings.Join(kinds, ", "))
	case kind == "" && len(kinds) > 1:
		return k, nil, fmt.Errorf("there are several kinds; select one with --kind: %s", strings.Join(kinds, ", "))
	case crd.APIVersion != "apiextensions.k8s.io/v1":
		return k, nil, fmt.Errorf("the definition is of %s; it must be of apiextensions.k8s.io/v1", crd.APIVersion)
	case crd.Spec.Scope == apiextensionsv1.ClusterScoped:
		return k, nil, fmt.Errorf("the kind %s is cluster-scoped; the children of the first plan are in its namespace, so it must be namespaced",
			crd.Spec.Names.Kind)
	}
	k.Variant, k.Group, k.Kind, k.Plural = From, crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Names.Plural
	stored := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if stored < 0 {
		return k, nil, fmt.Errorf("no version of the kind %s is stored", k.Kind)
	}
	version := crd.Spec.Versions[stored]
	k.APIVersion = version.Name
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return k, nil, fmt.Errorf("the version %s of the kind %s has no schema", k.APIVersion, k.Kind)
	}
	root := version.Schema.OpenAPIV3Schema
	for _, name := range sorted(root.Properties) {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "spec", "status"}, name) {
			return k, nil, fmt.Errorf("the kind %s has the field %q beside spec and status, which isn't supported", k.Kind, name)
		}
	}
	hasStatus := version.Subresources != nil && version.Subresources.Status != nil
	if k.Schema, k.Conditions, err = newSchema(k.Kind, root, hasStatus); err != nil {
		return k, nil, err
	}
	k.Sample, notes, err = k.fromSchema(root)
	return k, notes, err
}

// fromSchema returns a sample with the fields that a schema requires.
func (k Kind) fromSchema(root *apiextensionsv1.JSONSchemaProps) (string, []string, error) {
	spec := root.Properties["spec"]
	s := sampler{}
	value := s.value("spec", &spec)
	text, err := yaml.Marshal(map[string]any{"spec": value})
	head := fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata:\n  name: %s\n", k.Group, k.APIVersion, k.Kind, k.SampleName())
	return head + string(text), s.notes, err
}
