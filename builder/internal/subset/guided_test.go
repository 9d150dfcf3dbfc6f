package subset

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// jsonOf is an object as a cache of unstructured objects has it.
func jsonOf(t require.TestingT, obj client.Object) map[string]any {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	return fields
}

// What a type says about an object without one is what it says about one with it, which FuzzTyped holds against the
// API server's own merge.
func TestGuidedIsTyped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		like := rapid.SampledFrom(fuzzed).Draw(t, "kind")
		g := newGenerator(rapid.Uint64().Draw(t, "seed"), rapid.Uint8().Draw(t, "empty"))
		wanted, found := pair(like, g, rapid.IntRange(0, 4).Draw(t, "changes"))
		gvk, err := apiutil.GVKForObject(wanted, scheme.Scheme)
		require.NoError(t, err)
		fields, err := payload.Of(wanted, gvk)
		require.NoError(t, err)
		data, err := json.Marshal(found)
		require.NoError(t, err)
		reflectOf(found).SetZero()
		require.NoError(t, json.Unmarshal(data, found))
		got := jsonOf(t, found)
		got["apiVersion"], got["kind"] = gvk.ToAPIVersionAndKind()
		if typed := Typed(wanted, found); typed != Guided(fields, got, reflect.TypeOf(like)) {
			t.Fatalf("typed: %t, guided: %t\nwanted:\n%s\nfound:\n%s", typed, !typed, asYAML(wanted), asYAML(found))
		}
	})
}

func TestGuided(t *testing.T) {
	pod := reflect.TypeFor[*corev1.Pod]()
	sts := reflect.TypeFor[*appsv1.StatefulSet]()
	cases := map[string]struct {
		like          reflect.Type
		wanted, found string
		contained     bool
	}{
		"a zero that is left out":          {pod, "{spec: {hostNetwork: false}}", "{spec: {}}", true},
		"all of it zero":                   {pod, "{spec: {hostNetwork: false, nodeName: ''}}", "{}", true},
		"a zero, something found":          {pod, "{spec: {hostNetwork: false}}", "{spec: {hostNetwork: true}}", false},
		"an empty value":                   {pod, "{spec: {containers: [{name: a, env: [{name: A, value: ''}]}]}}", "{spec: {containers: [{name: a, env: [{name: A}]}]}}", true},
		"an empty value, something found":  {pod, "{spec: {containers: [{name: a, env: [{name: A, value: ''}]}]}}", "{spec: {containers: [{name: a, env: [{name: A, value: x}]}]}}", false},
		"a pointer's zero is kept":         {pod, "{spec: {hostUsers: false}}", "{spec: {}}", false},
		"an empty volume source is kept":   {pod, "{spec: {volumes: [{name: a, emptyDir: {}}]}}", "{spec: {volumes: [{name: a}]}}", false},
		"an empty struct is left out":      {pod, "{spec: {containers: [{name: a, resources: {}}]}}", "{spec: {containers: [{name: a}]}}", true},
		"a label without a value":          {pod, "{metadata: {labels: {a: ''}}}", "{metadata: {labels: {}}}", false},
		"an empty list":                    {pod, "{spec: {tolerations: []}}", "{spec: {}}", true},
		"a list of one value, more of it":  {pod, "{spec: {tolerations: [{key: a}]}}", "{spec: {tolerations: [{key: a}, {key: b}]}}", false},
		"quantities":                       {pod, "{spec: {containers: [{name: a, resources: {limits: {cpu: 1000m}}}]}}", "{spec: {containers: [{name: a, resources: {limits: {cpu: '1'}}}]}}", true},
		"ports of one number":              {pod, "{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}]}]}}", "{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}]}}", true},
		"the other of them":                {pod, "{spec: {containers: [{name: a, ports: [{containerPort: 53}]}]}}", "{spec: {containers: [{name: a, ports: [{containerPort: 53, protocol: UDP}]}]}}", false},
		"a field of a newer server":        {pod, "{spec: {newer: {a: 1}}}", "{spec: {newer: {a: 1, b: 2}}}", true},
		"a field of a newer server, other": {pod, "{spec: {newer: {a: 1}}}", "{spec: {newer: {a: 2}}}", false},
		"a null":                           {pod, "{spec: {nodeName: null}}", "{spec: {nodeName: x}}", true},
		"another form":                     {pod, "{spec: {containers: {a: b}}}", "{spec: {containers: [{name: a}]}}", false},
		"the kind of a template":           {sts, "{spec: {volumeClaimTemplates: [{kind: X, apiVersion: v1, metadata: {name: a}}]}}", "{spec: {volumeClaimTemplates: [{metadata: {name: a}}]}}", true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var wanted, found map[string]any
			require.NoError(t, yaml.Unmarshal([]byte(c.wanted), &wanted))
			require.NoError(t, yaml.Unmarshal([]byte(c.found), &found))
			assert.Equal(t, c.contained, Guided(wanted, found, c.like))
		})
	}
}

// A claim template that says what it is is one that doesn't: a cache has it without.
func TestTypeMetaInsideObjects(t *testing.T) {
	wanted := &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: metav1.ObjectMeta{Name: "data"},
	}}}}
	found := wanted.DeepCopy()
	found.Spec.VolumeClaimTemplates[0].TypeMeta = metav1.TypeMeta{}
	assert.True(t, Typed(wanted, found))
	assert.True(t, Typed(found, wanted))
	found.Spec.VolumeClaimTemplates[0].Name = "other"
	assert.False(t, Typed(wanted, found))

	type reference struct {
		metav1.TypeMeta `json:",inline"`
		Name            string `json:"name"`
	}
	assert.False(t, Typed(&reference{metav1.TypeMeta{Kind: "A"}, "x"}, &reference{metav1.TypeMeta{Kind: "B"}, "x"}), "of a custom resource it is data")
}
