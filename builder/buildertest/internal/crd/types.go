package crd

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TypeConverter returns the rules by which server-side apply merges the kind's lists and maps. It panics on an invalid schema, which
// an API server would refuse, too.
func (k *Kind) TypeConverter() managedfields.TypeConverter { return k.types() }

func (k *Kind) newTypeConverter() managedfields.TypeConverter {
	data, err := json.Marshal(k.schema)
	if err != nil {
		panic(err)
	}
	model := &spec.Schema{}
	if err := json.Unmarshal(data, model); err != nil {
		panic(err)
	}
	model.SetProperty("apiVersion", *spec.StringProperty())
	model.SetProperty("kind", *spec.StringProperty())
	model.SetProperty("metadata", *metadata())
	model.AddExtension("x-kubernetes-group-version-kind", []any{
		map[string]any{"group": k.Group, "version": k.Version, "kind": k.Kind},
	})
	converter, err := managedfields.NewTypeConverter(map[string]*spec.Schema{k.String(): model}, false)
	if err != nil {
		panic(err)
	}
	return converter
}

// metadata is the schema of the common fields of all objects, which CRDs omit.
func metadata() *spec.Schema {
	str := spec.StringProperty()
	finalizers := spec.ArrayProperty(str)
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	owner := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"apiVersion": *str, "kind": *str, "name": *str, "uid": *str,
		"controller": *spec.BooleanProperty(), "blockOwnerDeletion": *spec.BooleanProperty(),
	}}}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}, Properties: map[string]spec.Schema{
		"name": *str, "generateName": *str, "namespace": *str, "uid": *str, "resourceVersion": *str, "selfLink": *str,
		"creationTimestamp": *str, "deletionTimestamp": *str,
		"generation": *spec.Int64Property(), "deletionGracePeriodSeconds": *spec.Int64Property(),
		"labels": *spec.MapProperty(str), "annotations": *spec.MapProperty(str),
		"finalizers": *finalizers, "ownerReferences": *owners, "managedFields": *spec.ArrayProperty(spec.MapProperty(nil)),
	}}}
}
