package delta

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestJSONPatch(t *testing.T) {
	cases := map[string]struct{ before, after, want string }{
		"nothing": {"{a: 1}", "{a: 1}", `null`},
		"small":   {"{a: {b: [1, {c: 2}], d: 1}}", "{a: {b: [1, {c: 3}], e: false}}", `[{"op":"replace","path":"/a/b/1/c","value":3},{"op":"remove","path":"/a/d","value":null},{"op":"add","path":"/a/e","value":false}]`},
		"a list":  {"{a: [1, 2]}", "{a: [2]}", `[{"op":"replace","path":"/a","value":[2]}]`},
		"names":   {"{a: {}}", `{a: {"b/c~d": 1}}`, `[{"op":"add","path":"/a/b~1c~0d","value":1}]`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(JSONPatch(parse(t, c.before), parse(t, c.after)))
			require.NoError(t, err)
			assert.JSONEq(t, c.want, string(got))
		})
	}
}
