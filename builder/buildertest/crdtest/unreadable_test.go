package crdtest_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
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

// specOf is the specification of an object whose property x takes any value.
type specOf[T any] struct {
	Spec struct {
		X T `json:"x"`
	} `json:"spec"`
}

// crdOf returns a CRD with that property of this schema, and with a version that has none.
func crdOf(x apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"x": x}},
	}}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "backups.example.com"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Name: "v0"}, {Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema}},
	}
	return crd
}

// What lists and maps have is looked at as well, and quantities that only take too long to read.
func TestWhatIsUnreadableBelowAProperty(t *testing.T) {
	number := apiextensionsv1.JSONSchemaProps{Type: "integer"}
	of := func(x apiextensionsv1.JSONSchemaProps, newObject func(string) any) string {
		found, err := crdtest.Unreadable(crdOf(x), newObject)
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	found := of(apiextensionsv1.JSONSchemaProps{Type: "array", Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &number}},
		func(string) any { return &specOf[[]int32]{} })
	assert.Contains(t, found, "backups.example.com, version v1: spec.x.[]: the schema admits 2147483648, and the Go type doesn't read it")

	found = of(apiextensionsv1.JSONSchemaProps{
		Type: "object", AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &number},
	}, func(string) any { return &specOf[map[string]int32]{} })
	assert.Contains(t, found, "version v1: spec.x.{}: the schema admits 2147483648, and the Go type doesn't read it")

	found = of(apiextensionsv1.JSONSchemaProps{XIntOrString: true, Pattern: `^1E-9+$`},
		func(string) any { return &specOf[resource.Quantity]{} })
	assert.Contains(t, found, `version v1: spec.x: the schema admits "1E-999999999", which a resource.Quantity takes hours to read`)
}

func TestASchemaThatCannotBeCompiled(t *testing.T) {
	wrong := apiextensionsv1.JSONSchemaProps{Type: "string", Default: &apiextensionsv1.JSON{Raw: []byte("{")}}
	_, err := crdtest.Unreadable(crdOf(wrong), func(string) any { return &specOf[string]{} })
	require.EqualError(t, err, "backups.example.com, version v1: spec: unexpected end of JSON input")
}
