package crdtest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest/crdtest"
	kvstore "github.com/armature-dev/armature/examples/kvstore/api/v1"
	parseable "github.com/armature-dev/armature/examples/parseable/api/v1beta1"
	pinot "github.com/armature-dev/armature/examples/pinot/api/v1beta1"
	tfjob "github.com/armature-dev/armature/examples/tfjob/api/v1"
	torchjob "github.com/armature-dev/armature/examples/torchjob/api/v1"
	tutorial "github.com/armature-dev/armature/examples/tutorial/api/v1"
	webapp "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Whoever may create an object in one namespace stops an operator for everyone if its cache can't read it.
func TestWhatTheAPIServerAdmitsCanBeRead(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		v1alpha1.AddToScheme, kvstore.AddToScheme, parseable.AddToScheme, pinot.AddToScheme, tfjob.AddToScheme, torchjob.AddToScheme,
		tutorial.AddToScheme, webapp.AddToScheme,
	} {
		require.NoError(t, add(scheme))
	}
	files, err := filepath.Glob("../../../config/crd/*_*.yaml")
	require.NoError(t, err)
	examples, err := filepath.Glob("../../../examples/*/config/*_*.yaml")
	require.NoError(t, err)
	examples = slices.DeleteFunc(examples, func(file string) bool { // postgres is another module, and checks its own
		return strings.Contains(file, "/postgres/")
	})
	require.Len(t, files, 7)
	require.Len(t, examples, 8)
	for _, file := range append(files, examples...) {
		t.Run(filepath.Base(file), func(t *testing.T) { crdtest.Check(t, scheme, file) })
	}
}
