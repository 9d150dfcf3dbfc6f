package crd

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/validate"

	"github.com/armature-dev/armature/builder/internal/crdfile"
)

// Kind is one served version of a custom kind. It is safe for concurrent use.
type Kind struct {
	schema.GroupVersionKind
	Plural     string
	Namespaced bool
	Status     bool // it has a status subresource

	schema map[string]any
	types  func() managedfields.TypeConverter

	validator func() *validate.SchemaValidator
}

// definition is the part of a CustomResourceDefinition that the package reads.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Kind   string `json:"kind"`
			Plural string `json:"plural"`
		} `json:"names"`
		Versions []struct {
			Name         string         `json:"name"`
			Subresources map[string]any `json:"subresources"`
			Schema       struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

// Read returns the kinds of the definitions in YAML files, and in directories of them. A path without a definition is an error.
func Read(paths ...string) ([]*Kind, error) {
	definitions, err := crdfile.Read[definition](paths...)
	if err != nil {
		return nil, err
	}
	var kinds []*Kind
	for _, d := range definitions {
		for _, v := range d.Spec.Versions {
			_, status := v.Subresources["status"]
			k := &Kind{
				GroupVersionKind: schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind},
				Plural:           d.Spec.Names.Plural,
				Namespaced:       d.Spec.Scope == "Namespaced",
				Status:           status,
				schema:           whole(v.Schema.OpenAPIV3Schema).(map[string]any),
			}
			k.types, k.validator = sync.OnceValue(k.newTypeConverter), sync.OnceValue(k.newValidator)
			kinds = append(kinds, k)
		}
	}
	return kinds, nil
}
