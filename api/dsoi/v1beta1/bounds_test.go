package v1beta1

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// fields are those that are read leniently, each a new one.
var fields = map[string]func() json.Unmarshaler{
	"nodes":     func() json.Unmarshaler { return &Nodes{} },
	"k8sConfig": func() json.Unmarshaler { return &K8sConfigGroups{} },
	"appConfig": func() json.Unmarshaler { return &AppConfigGroups{} },
	"externals": func() json.Unmarshaler { return &Externals{} },
}

// A field of which nothing can be read takes some times its own size, also a copy: it is decoded in every cache, before any pass
// that could be put off.
func TestAMalformedFieldCostsBoundedMemory(t *testing.T) {
	list := func(one string) string { return "[" + strings.Repeat(one+",", 500_000/len(one)) + one + "]" }
	var names []string
	for i := range 50_000 {
		names = append(names, fmt.Sprintf(`"%d":1`, i))
	}
	few := strings.Repeat("1,", 900)
	for name, text := range map[string]string{
		"a list": list("1"), "empty ones": list("{}"), "a map": "{" + strings.Join(names, ",") + "}",
		"lists in a map": `{"a":` + list("1") + `}`,
		"large ones":     "[" + few + `{"x":"` + strings.Repeat("x", 1_000_000) + `"}]`,
		"in a map":       `{"a":1,"b":1,"c":[` + few + `1],"d":{"x":"` + strings.Repeat("x", 1_000_000) + `"}}`,
	} {
		for field, empty := range fields {
			t.Run(name+" of "+field, func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&before)
				value := empty()
				require.NoError(t, value.UnmarshalJSON([]byte(text)))
				runtime.ReadMemStats(&after)
				assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(100))
				written, err := json.Marshal(value)
				require.NoError(t, err)
				if !assert.LessOrEqual(t, len(written), 2*len(text)) {
					return
				}
				runtime.ReadMemStats(&before)
				if n, ok := value.(*Nodes); ok {
					n.DeepCopy()
				}
				runtime.ReadMemStats(&after)
				assert.Less(t, (after.TotalAlloc-before.TotalAlloc)>>20, uint64(100))
			})
		}
	}
}

// The lists of a Scaling are bounded in the schema: its controller goes through them in each pass.
func TestTheListsOfAScalingAreBounded(t *testing.T) {
	data, err := os.ReadFile("../../../examples/kvstore/config/examples.armature.dev_kvstorescalings.yaml")
	require.NoError(t, err)
	var crd apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict(data, &crd))
	entries := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["autoscaling"]
	storage := entries.Items.Schema.Properties["storage"]
	for list, most := range map[*apiextensionsv1.JSONSchemaProps]int64{&entries: 1000, &storage: 32} {
		require.NotNil(t, list.MaxItems)
		assert.Equal(t, most, *list.MaxItems)
		name := list.Items.Schema.Properties["name"]
		require.NotNil(t, name.MaxLength)
		assert.EqualValues(t, 253, *name.MaxLength)
	}
}

// FuzzUnmarshal reads what a tenant may write into a field that no schema bounds: it never fails, and is written as it was or as it
// is understood, which is the same when it is read again.
func FuzzUnmarshal(f *testing.F) {
	for _, text := range []string{
		`null`, `1`, `"x"`, `[]`, `{}`, `[1,{"type":"a"},null]`, `{"a":[{"nodeType":"b"}],"c":1}`, `[{"name":"a","fooConfig":"b","barConfig":"c"}]`,
		`{"a":{"name":"b"}}`, `{"a":{"spec":{"b":1}},"c":[]}`, `[{"name":"n","data":"a=b","files":{"f":"x"},"scope":"common","other":{"x":[1.50]}}]`, `1E1000`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		for field, empty := range fields {
			value, again := empty(), empty()
			require.NoError(t, value.UnmarshalJSON([]byte(text)), field)
			written, err := json.Marshal(value)
			require.NoError(t, err, field)
			require.NoError(t, again.UnmarshalJSON(written), field)
			twice, err := json.Marshal(again)
			require.NoError(t, err, field)
			assert.Equal(t, string(written), string(twice), field) // not JSONEq, whose numbers are float64: 1E1000 is none
		}
		var d Duration
		var n Number
		var s Size
		for _, value := range []json.Unmarshaler{&d, &n, &s, &Names{}} {
			_ = value.UnmarshalJSON([]byte(text))
		}
		_, _ = d.Parse(0)
		_, _ = n.Parse()
		_, _ = s.Parse()
	})
}
