package former

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

// An undo restores the managed fields, and of the desired ones those that another writer has set.
func TestFields(t *testing.T) {
	for name, c := range map[string]struct{ observed, desired, managed, want string }{
		"fields of others stay out": {
			`{a: 1, b: 2, c: {d: 3, e: 4}}`, `{}`, `{"f:a": {}, "f:c": {"f:d": {}}}`, `{a: 1, c: {d: 3}}`,
		},
		"an element of a list with its key": {
			`{l: [{name: x, v: 1, w: 2}, {name: z, v: 3}]}`, `{}`, `{"f:l": {"k:{\"name\":\"x\"}": {"f:v": {}}}}`, `{l: [{name: x, v: 1}]}`,
		},
		"a whole element": {
			`{l: [{uid: x, kind: K}, {uid: z}]}`, `{}`, `{"f:l": {".": {}, "k:{\"uid\":\"x\"}": {}}}`, `{l: [{uid: x, kind: K}]}`,
		},
		"an element of a set": {
			`{l: [x, z]}`, `{}`, `{"f:l": {"v:\"z\"": {}}}`, `{l: [z]}`,
		},
		"what another writer has changed": {
			`{l: [{name: x, v: 9, w: 2, z: 1}]}`, `{l: [{name: x, v: 1, w: 2}]}`, `{"f:l": {"k:{\"name\":\"x\"}": {".": {}, "f:name": {}, "f:w": {}}}}`,
			`{l: [{name: x, v: 9, w: 2}]}`,
		},
		"an atomic list and an empty map": {
			`{l: [1, 2], m: {}, o: {a: b, c: d}}`, `{o: {a: e}}`, `{"f:l": {}, "f:m": {}, "f:o": {}}`, `{l: [1, 2], m: {}, o: {a: b, c: d}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := &fieldpath.Set{}
			require.NoError(t, set.FromJSON(strings.NewReader(c.managed)))
			assert.Equal(t, decode(t, c.want), Fields(decode(t, c.observed), decode(t, c.desired), set))
		})
	}
}

func decode(t *testing.T, text string) (fields map[string]any) {
	t.Helper()
	require.NoError(t, yaml.Unmarshal([]byte(text), &fields))
	return fields
}
