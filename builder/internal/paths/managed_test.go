package paths

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

func set(t *testing.T, text string) *fieldpath.Set {
	s := &fieldpath.Set{}
	require.NoError(t, s.FromJSON(strings.NewReader(text)))
	return s
}

func parseObject(t *testing.T, text string) map[string]any {
	var object map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

func TestRemoveSet(t *testing.T) {
	const object = "{spec: {replicas: 1, list: [{name: x, v: 1}, {name: w}], set: [a, b], probe: {http: {port: 1}}}}"
	cases := map[string]struct{ fields, kept, want string }{
		"nothing":      {`{}`, `{}`, object},
		"leaf":         {`{"f:spec":{"f:replicas":{}}}`, `{}`, "{spec: {list: [{name: x, v: 1}, {name: w}], set: [a, b], probe: {http: {port: 1}}}}"},
		"emptied":      {`{"f:spec":{"f:probe":{"f:http":{"f:port":{}}}}}`, `{}`, "{spec: {replicas: 1, list: [{name: x, v: 1}, {name: w}], set: [a, b]}}"},
		"element":      {`{"f:spec":{"f:list":{"k:{\"name\":\"x\"}":{".":{},"f:name":{},"f:v":{}}}}}`, `{}`, "{spec: {replicas: 1, list: [{name: w}], set: [a, b], probe: {http: {port: 1}}}}"},
		"element kept": {`{"f:spec":{"f:list":{"k:{\"name\":\"x\"}":{".":{}}}}}`, `{"f:spec":{"f:list":{"k:{\"name\":\"x\"}":{"f:v":{}}}}}`, object},
		"of a set":     {`{"f:spec":{"f:set":{"v:\"a\"":{}}}}`, `{}`, "{spec: {replicas: 1, list: [{name: x, v: 1}, {name: w}], set: [b], probe: {http: {port: 1}}}}"},
		"not there":    {`{"f:spec":{"f:list":{"k:{\"name\":\"z\"}":{".":{}}},"f:other":{"f:x":{}},"f:replicas":{"f:x":{}}}}`, `{}`, object},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := parseObject(t, object)
			RemoveSet(got, set(t, c.fields), set(t, c.kept))
			assert.Equal(t, parseObject(t, c.want), got)
		})
	}
}
