package crdtest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Check fails the test for each property that CRDs admit and the Go types of a scheme can't read: see [Unreadable]. The paths are YAML
// files, and directories of them. The scheme must have at least one version of each kind; versions that it doesn't have aren't checked,
// because no operator of the scheme reads them.
func Check(t testing.TB, scheme *runtime.Scheme, paths ...string) {
	t.Helper()
	crds, err := read(paths)
	if err != nil {
		t.Fatal(err)
	}
	for _, crd := range crds {
		found, err := checkOne(crd, scheme)
		if err != nil {
			t.Error(err)
		}
		for _, line := range found {
			t.Error(line)
		}
	}
}

// checkOne is [Unreadable] of the versions that a scheme has.
func checkOne(crd *apiextensionsv1.CustomResourceDefinition, scheme *runtime.Scheme) ([]string, error) {
	known := crd.DeepCopy()
	known.Spec.Versions = nil
	kind := func(version string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: crd.Spec.Group, Version: version, Kind: crd.Spec.Names.Kind}
	}
	for _, version := range crd.Spec.Versions {
		if scheme.Recognizes(kind(version.Name)) {
			known.Spec.Versions = append(known.Spec.Versions, version)
		}
	}
	if len(known.Spec.Versions) == 0 {
		return nil, fmt.Errorf("%s: the scheme has no version of the kind %s", crd.Name, crd.Spec.Names.Kind)
	}
	return Unreadable(known, func(version string) any {
		obj, err := scheme.New(kind(version))
		if err != nil {
			panic(err) // the scheme recognizes it
		}
		return obj
	})
}

// read reads the CRDs of YAML files, and of those in directories. A path without a CRD is an error.
func read(paths []string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	var crds []*apiextensionsv1.CustomResourceDefinition
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err != nil {
			return nil, err
		} else if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.yaml")); err != nil {
				return nil, err
			}
		}
		before := len(crds)
		for _, file := range files {
			found, err := readFile(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			crds = append(crds, found...)
		}
		if len(crds) == before {
			return nil, fmt.Errorf("%s: no CustomResourceDefinition", path)
		}
	}
	return crds, nil
}

func readFile(file string) ([]*apiextensionsv1.CustomResourceDefinition, error) {
	text, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer text.Close()
	var crds []*apiextensionsv1.CustomResourceDefinition
	for documents := yaml.NewYAMLOrJSONDecoder(text, 4096); ; {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		switch err := documents.Decode(crd); {
		case errors.Is(err, io.EOF):
			return crds, nil
		case err != nil:
			return nil, err
		case crd.Kind == "CustomResourceDefinition":
			crds = append(crds, crd)
		}
	}
}
