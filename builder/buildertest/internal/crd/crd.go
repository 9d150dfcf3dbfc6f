package crd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Kind is one served version of a custom kind. It is safe for concurrent use.
type Kind struct {
	schema.GroupVersionKind
	Plural     string
	Namespaced bool
	Status     bool // it has a status subresource

	schema map[string]any
	types  func() managedfields.TypeConverter
}

// definition is the part of a CustomResourceDefinition that the package reads.
type definition struct {
	Kind string `json:"kind"`
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

// Read reads YAML files, and those in directories. A path without a definition is an error.
func Read(paths ...string) ([]*Kind, error) {
	var kinds []*Kind
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
				return nil, err
			}
		}
		found := len(kinds)
		for _, file := range files {
			read, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			kinds = append(kinds, read...)
		}
		if len(kinds) == found {
			return nil, fmt.Errorf("%s: no CustomResourceDefinition", path)
		}
	}
	return kinds, nil
}

func readFile(file string) ([]*Kind, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var kinds []*Kind
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var d definition
		if err := decoder.Decode(&d); errors.Is(err, io.EOF) {
			return kinds, nil
		} else if err != nil {
			return nil, err
		}
		if d.Kind != "CustomResourceDefinition" {
			continue
		}
		for _, v := range d.Spec.Versions {
			_, status := v.Subresources["status"]
			k := &Kind{
				GroupVersionKind: schema.GroupVersionKind{Group: d.Spec.Group, Version: v.Name, Kind: d.Spec.Names.Kind},
				Plural:           d.Spec.Names.Plural,
				Namespaced:       d.Spec.Scope == "Namespaced",
				Status:           status,
				schema:           whole(v.Schema.OpenAPIV3Schema).(map[string]any),
			}
			k.types = sync.OnceValue(k.newTypeConverter)
			kinds = append(kinds, k)
		}
	}
}
