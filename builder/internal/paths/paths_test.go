package paths

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Path{
		"spec":                                {{Name: "spec"}},
		"spec.replicas":                       {{Name: "spec"}, {Name: "replicas"}},
		"metadata.annotations[example.com/x]": {{Name: "metadata"}, {Name: "annotations"}, {Name: "example.com/x"}},
		"data[a.b]":                           {{Name: "data"}, {Name: "a.b"}},
		"a[name=web].image":                   {{Name: "a"}, {Keys: map[string]string{"name": "web"}}, {Name: "image"}},
		"a[port=80,protocol=TCP]":             {{Name: "a"}, {Keys: map[string]string{"port": "80", "protocol": "TCP"}}},
		"a[mountPath=/x=y][b].c":              {{Name: "a"}, {Keys: map[string]string{"mountPath": "/x=y"}}, {Name: "b"}, {Name: "c"}},
	} {
		got, err := Parse(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", ".", "a.", ".a", "a..b", "[a]", "a[", "a[]", "a[0]", "a[=b]", "a[b=c,d]", "a]b", "a[b]c", "a/b", "a b", "a=b", "a[b]."} {
		_, err := Parse(text)
		assert.Error(t, err, text)
	}
}

func parse(t *testing.T, text string) Path {
	p, err := Parse(text)
	require.NoError(t, err, text)
	return p
}

// A port without a protocol is one of TCP, as the API server has it.
func TestChooses(t *testing.T) {
	step := parse(t, "ports[containerPort=80,protocol=TCP]")[1]
	for _, c := range []struct {
		element any
		want    bool
	}{
		{map[string]any{"containerPort": int64(80), "protocol": "TCP"}, true},
		{map[string]any{"containerPort": int64(80)}, true},
		{map[string]any{"containerPort": int64(80), "protocol": "UDP"}, false},
		{map[string]any{"protocol": "TCP"}, false},
		{"80", false},
	} {
		assert.Equal(t, c.want, step.Chooses(c.element), "%v", c.element)
	}
	assert.False(t, Step{Name: "name"}.Chooses(map[string]any{"name": "x"}), "a name is no choice")
}

func TestRemove(t *testing.T) {
	const object = `{"metadata":{"annotations":{"e.com/x":"1"}},"spec":{"replicas":3,"c":[{"name":"a","image":"x"},{"name":"b","image":"y","n":1}],"one":{"deep":1}}}`
	for path, want := range map[string]string{
		"spec.replicas":                 `{"metadata":{"annotations":{"e.com/x":"1"}},"spec":{"c":[{"name":"a","image":"x"},{"name":"b","image":"y","n":1}],"one":{"deep":1}}}`,
		"metadata.annotations[e.com/x]": `{"spec":{"replicas":3,"c":[{"name":"a","image":"x"},{"name":"b","image":"y","n":1}],"one":{"deep":1}}}`,
		"spec.c[name=b].image":          `{"metadata":{"annotations":{"e.com/x":"1"}},"spec":{"replicas":3,"c":[{"name":"a","image":"x"},{"name":"b","n":1}],"one":{"deep":1}}}`,
		"spec.c[name=b,n=1]":            `{"metadata":{"annotations":{"e.com/x":"1"}},"spec":{"replicas":3,"c":[{"name":"a","image":"x"}],"one":{"deep":1}}}`,
		"spec.one.deep":                 `{"metadata":{"annotations":{"e.com/x":"1"}},"spec":{"replicas":3,"c":[{"name":"a","image":"x"},{"name":"b","image":"y","n":1}]}}`,
		"spec":                          `{"metadata":{"annotations":{"e.com/x":"1"}}}`,
		"spec.none.at.all":              object,
		"spec.c.image":                  object,
		"spec.c[name=z]":                object,
		"spec[name=z]":                  object,
		"spec.replicas.more":            object,
	} {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(object), &fields))
		parse(t, path).Remove(fields)
		got, err := json.Marshal(fields)
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), path)
	}
}

func TestWithout(t *testing.T) {
	owned := &fieldpath.Set{}
	require.NoError(t, owned.FromJSON(strings.NewReader(
		`{"f:spec":{"f:replicas":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}},"f:data":{".":{},"f:a.b":{}}}`)))
	for path, want := range map[string]string{
		"spec.replicas":                    `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}},"f:data":{".":{},"f:a.b":{}}}`,
		"spec.ports[port=80].name":         `{"f:spec":{"f:replicas":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}}}},"f:data":{".":{},"f:a.b":{}}}`,
		"spec.ports[port=80,protocol=TCP]": `{"f:spec":{"f:replicas":{}},"f:data":{".":{},"f:a.b":{}}}`,
		"data[a.b]":                        `{"f:spec":{"f:replicas":{},"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}},"f:data":{}}`,
		"spec":                             `{"f:data":{".":{},"f:a.b":{}}}`,
	} {
		got, err := Without(owned, []Path{parse(t, path)}).ToJSON()
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), path)
	}
	for _, path := range []string{"spec.ports[port=81]", "spec.other", "data[a]", "spec.ports[port=80,protocol=UDP]", "spec.replicas[a=b]"} {
		assert.Same(t, owned, Without(owned, []Path{parse(t, path)}), path)
	}
}

func TestCheck(t *testing.T) {
	deployment := reflect.TypeFor[*appsv1.Deployment]()
	for _, path := range []string{
		"spec", "spec.replicas", "metadata.annotations[a.com/b]", "spec.template.spec.containers[name=web].image",
		"spec.template.spec.containers[name=web].ports[containerPort=80,protocol=TCP]", "spec.template.spec.tolerations",
		"spec.template.spec.containers[name=web].resources.limits[cpu]", "spec.template.spec.nodeSelector[a]",
		"spec.template.spec.containers[name=web].livenessProbe.httpGet.port",
	} {
		assert.NoError(t, parse(t, path).Check(deployment), path)
	}
	for path, says := range map[string]string{
		"spec.replcas":                        "replcas of spec is unknown",
		"spce":                                "spce of the object is unknown",
		"spec.replicas.x":                     "spec.replicas, which is no list",
		"spec.template.spec.containers.image": "a list; name an element",
		"spec.template.spec.containers[image=x].name":                     "does not say by name",
		"spec.template.spec.containers[nam=x].image":                      "by nam, which is no field",
		"spec.template.spec.tolerations[key=a]":                           "takes as one value",
		"spec.template.spec.containers[name=web].args[a=b]":               "have no fields",
		"spec.template.spec.containers[name=web].resources.limits[cpu].x": "one value",
		"spec[name=x]": "no list",
	} {
		assert.ErrorContains(t, parse(t, path).Check(deployment), says, path)
	}
	assert.NoError(t, parse(t, "data[k]").Check(reflect.TypeFor[*corev1.Secret]()))
}
