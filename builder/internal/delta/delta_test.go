package delta

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) map[string]any {
	var object map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &object))
	return object
}

func TestBetween(t *testing.T) {
	cases := map[string]struct {
		before, after string
		want          []string
	}{
		"same":              {"{a: {b: [1, 2]}}", "{a: {b: [1, 2]}}", nil},
		"value":             {"{a: {b: 1}}", "{a: {b: 2}}", []string{"a.b: 1 -> 2"}},
		"added, to leaves":  {"{}", "{a: {b: 1, c: {d: x}}}", []string{"a.b: <nil> -> 1", "a.c.d: <nil> -> x"}},
		"removed":           {"{a: {b: 1}}", "{}", []string{"a.b: 1 -> <nil>"}},
		"empty map":         {"{a: {}}", "{}", []string{"a: map[] -> <nil>"}},
		"map emptied":       {"{a: {b: 1}}", "{a: {}}", []string{"a.b: 1 -> <nil>"}},
		"type":              {"{a: 1}", "{a: {b: 1}}", []string{"a: 1 -> map[b:1]"}},
		"odd names":         {`{a: {"x.y/z": 1}}`, "{}", []string{`a["x.y/z"]: 1 -> <nil>`}},
		"plain list":        {"{a: [x, w]}", "{a: [x]}", []string{"a: [x w] -> [x]"}},
		"list by name":      {"{a: [{name: x, v: 1}, {name: w}]}", "{a: [{name: z}, {name: w}, {name: x, v: 2}]}", []string{"a[name=x].v: 1 -> 2", "a[name=z].name: <nil> -> z"}},
		"element removed":   {"{a: [{name: x, v: 1}]}", "{a: []}", []string{"a[name=x].name: x -> <nil>", "a[name=x].v: 1 -> <nil>"}},
		"name isn't unique": {"{a: [{name: x, mountPath: p}, {name: x, mountPath: q}]}", "{a: [{name: x, mountPath: q, v: 1}]}", []string{"a[mountPath=p].mountPath: p -> <nil>", "a[mountPath=p].name: x -> <nil>", "a[mountPath=q].v: <nil> -> 1"}},
		"no key":            {"{a: [{v: 1}, {v: 2}]}", "{a: [{v: 1}, {v: 3}, {v: 4}]}", []string{"a[1].v: 2 -> 3", "a[2].v: <nil> -> 4"}},
		"key of any type":   {"{a: [{name: {x: 1}}]}", "{a: [{name: {x: 2}}]}", []string{"a[0].name.x: 1 -> 2"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, change := range Between(parse(t, c.before), parse(t, c.after)) {
				got = append(got, fmt.Sprintf("%s: %v -> %v", change.Path, change.Old, change.New))
			}
			assert.Equal(t, c.want, got)
		})
	}
}
