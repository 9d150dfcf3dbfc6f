package delta

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

func TestMergePatch(t *testing.T) {
	for name, c := range map[string]struct{ before, after, want string }{
		"nothing":         {`{"a":{"b":[1]}}`, `{"a":{"b":[1]}}`, `{}`},
		"set":             {`{}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"removed":         {`{"a":{"b":1,"c":2}}`, `{"a":{"b":1}}`, `{"a":{"c":null}}`},
		"changed":         {`{"a":{"b":1,"c":2}}`, `{"a":{"b":1,"c":3}}`, `{"a":{"c":3}}`},
		"a list":          {`{"a":[1,2]}`, `{"a":[1]}`, `{"a":[1]}`},
		"another type":    {`{"a":{"b":1}}`, `{"a":"b"}`, `{"a":"b"}`},
		"from a null":     {`{"a":null}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
		"to a null":       {`{"a":{"b":1}}`, `{"a":null}`, `{"a":null}`},
		"a large integer": {`{"a":9007199254740993}`, `{"a":9007199254740992}`, `{"a":9007199254740992}`},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after map[string]any
			require.NoError(t, utiljson.Unmarshal([]byte(c.before), &before))
			require.NoError(t, utiljson.Unmarshal([]byte(c.after), &after))
			got, err := json.Marshal(MergePatch(before, after))
			require.NoError(t, err)
			assert.Equal(t, c.want, string(got))
		})
	}
}
