package crdtest

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/crdfile"
)

// Check fails the test for each property that CRDs admit and the Go types of a scheme can't read: see [Unreadable]. The paths are YAML
// files, and directories of them. The scheme must have at least one version of each kind; versions that it doesn't have aren't checked,
// because no operator of the scheme reads them.
func Check(t testing.TB, scheme *runtime.Scheme, paths ...string) {
	t.Helper()
	crds, err := crdfile.Read[*apiextensionsv1.CustomResourceDefinition](paths...)
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
