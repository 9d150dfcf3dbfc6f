package lint

import (
	"fmt"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/armature-dev/armature/config/crd"
)

// kind is what a CRD says of a version of its kind.
type kind struct {
	namespaced bool
	structure  *structural.Structural
	types      validation.SchemaValidator
	rules      *cel.Validator
}

// known are the kinds that can be checked. Their rules are compiled at the first use, because that takes a moment.
var known = sync.OnceValues(func() (map[schema.GroupVersionKind]func() (*kind, error), error) {
	crds, err := crd.All()
	if err != nil {
		return nil, err
	}
	all := map[schema.GroupVersionKind]func() (*kind, error){}
	for _, u := range crds {
		var versioned apiextensionsv1.CustomResourceDefinition
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &versioned); err != nil {
			return nil, fmt.Errorf("%s: %w", u.GetName(), err)
		}
		for _, version := range versioned.Spec.Versions {
			gvk := schema.GroupVersionKind{Group: versioned.Spec.Group, Version: version.Name, Kind: versioned.Spec.Names.Kind}
			all[gvk] = sync.OnceValues(func() (*kind, error) { return compile(&versioned, version) })
		}
	}
	return all, nil
})

func compile(of *apiextensionsv1.CustomResourceDefinition, version apiextensionsv1.CustomResourceDefinitionVersion) (*kind, error) {
	var props apiextensions.JSONSchemaProps
	schema := version.Schema.OpenAPIV3Schema
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &props, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", of.Name, err)
	}
	k := &kind{namespaced: of.Spec.Scope == apiextensionsv1.NamespaceScoped}
	var err error
	if k.structure, err = structural.NewStructural(&props); err != nil {
		return nil, fmt.Errorf("%s: %w", of.Name, err)
	}
	if k.types, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, fmt.Errorf("%s: %w", of.Name, err)
	}
	k.rules = cel.NewValidator(k.structure, true, celconfig.PerCallLimit)
	return k, nil
}
