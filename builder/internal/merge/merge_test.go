package merge

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/internal/paths"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	if text == "" {
		return nil
	}
	fields := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &fields))
	return fields
}

func set(t *testing.T, text string) *fieldpath.Set {
	t.Helper()
	s := fieldpath.NewSet()
	if text != "" {
		require.NoError(t, s.FromJSON(strings.NewReader(text)))
	}
	return s
}

// objectsOf makes what a merge starts from of texts.
func objectsOf(t *testing.T, live, desired, fresh, ours, others string) Objects {
	return Objects{
		Live: parse(t, live), Desired: parse(t, desired), Fresh: parse(t, fresh), Ours: set(t, ours), Others: set(t, others),
		Release: true,
		Fixed: fieldpath.NewSet(fieldpath.MakePathOrDie("spec", "replicas"), fieldpath.MakePathOrDie("spec", "e", "replicas"),
			fieldpath.MakePathOrDie("spec", "w", "type")),
		Unique: func(at fieldpath.Path, _ any) bool { return strings.HasSuffix(at.String(), "clusterIP") },
		Plain:  func(name string, value any, _ map[string]any) bool { return name == "plain" },
	}
}

const (
	port80 = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}`
	both   = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}},"k:{\"port\":81,\"protocol\":\"TCP\"}":{".":{},"f:name":{}}}}}`
	// what another writer has of the element that port80 has as well
	port80Bare = `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{},"f:target":{}}}}}`

	// elements of one port and two modes, of which plain is the default
	oddAndPlain = `{"f:spec":{"f:l":{"k:{\"mode\":\"odd\",\"port\":80}":{".":{},"f:mode":{},"f:port":{},"f:x":{}},"k:{\"mode\":\"plain\",\"port\":80}":{".":{},"f:mode":{},"f:port":{},"f:z":{}}}}}`

	port81 = `{"f:spec":{"f:ports":{"k:{\"port\":81,\"protocol\":\"TCP\"}":{".":{},"f:name":{},"f:port":{}}}}}`
)

func TestRun(t *testing.T) {
	cases := map[string]struct {
		live, desired, fresh, ours, others string
		want                               string
		stale                              bool
		mayDerive                          bool
		released                           string
	}{
		"value":                    {live: "{spec: {a: 1, b: 2}}", desired: "{spec: {a: 3}}", ours: `{"f:spec":{"f:a":{}}}`, others: `{"f:spec":{"f:b":{}}}`, want: "{spec: {a: 3, b: 2}}"},
		"no longer desired":        {live: "{spec: {a: 1, b: 2}}", desired: "{spec: {a: 1}}", ours: `{"f:spec":{"f:a":{},"f:b":{}}}`, want: "{spec: {a: 1}}"},
		"others' too":              {live: "{spec: {a: 1, b: 2}}", desired: "{spec: {a: 1}}", ours: `{"f:spec":{"f:a":{},"f:b":{}}}`, others: `{"f:spec":{"f:b":{}}}`, want: "{spec: {a: 1, b: 2}}"},
		"emptied":                  {live: "{spec: {a: 1, b: {c: 2}}}", desired: "{spec: {a: 1}}", ours: `{"f:spec":{"f:a":{},"f:b":{".":{},"f:c":{}}}}`, want: "{spec: {a: 1}}"},
		"atomic list":              {live: "{spec: {a: [1, 2]}}", desired: "{spec: {a: [3]}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: [3]}}"},
		"atomic map":               {live: "{spec: {a: {x: y}}}", desired: "{spec: {a: {z: y}}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: {z: y}}}"},
		"set":                      {live: "{spec: {a: [x, y]}}", desired: "{spec: {a: [z]}}", ours: `{"f:spec":{"f:a":{"v:\"x\"":{}}}}`, others: `{"f:spec":{"f:a":{"v:\"y\"":{}}}}`, want: "{spec: {a: [y, z]}}"},
		"element":                  {live: "{spec: {ports: [{port: 80, name: p, protocol: TCP}]}}", desired: "{spec: {ports: [{port: 80, name: q}]}}", ours: port80, want: "{spec: {ports: [{port: 80, name: q, protocol: TCP}]}}"},
		"element of a default":     {live: "{spec: {l: [{port: 80, mode: plain, x: 1}]}}", desired: "{spec: {l: [{port: 80, x: 2}]}}", ours: `{"f:spec":{"f:l":{"k:{\"mode\":\"plain\",\"port\":80}":{".":{},"f:mode":{},"f:port":{},"f:x":{}}}}}`, want: "{spec: {l: [{port: 80, x: 2}]}}"},
		"element of another value": {live: "{spec: {l: [{port: 80, mode: odd, x: 1}]}}", desired: "{spec: {l: [{port: 80, x: 2}]}}", others: `{"f:spec":{"f:l":{"k:{\"mode\":\"odd\",\"port\":80}":{".":{},"f:mode":{},"f:port":{},"f:x":{}}}}}`, want: "{spec: {l: [{port: 80, mode: odd, x: 1}, {port: 80, x: 2}]}}"},
		"element of the default": {
			live: "{spec: {l: [{port: 80, mode: odd, x: 1}, {port: 80, mode: plain, z: 1}]}}", desired: "{spec: {l: [{port: 80, x: 1}]}}",
			fresh: "{spec: {l: [{port: 80, mode: plain, x: 1}]}}", ours: oddAndPlain, want: "{spec: {l: [{port: 80, mode: plain, x: 1}]}}",
			released: `.spec.l[mode="plain",port=80].mode`,
		},
		"another key":      {live: "{spec: {ports: [{port: 81, name: p, protocol: TCP}]}}", desired: "{spec: {ports: [{port: 80, name: p}]}}", others: port81, want: "{spec: {ports: [{port: 81, name: p, protocol: TCP}, {port: 80, name: p}]}}"},
		"element given up": {live: "{spec: {ports: [{port: 80, name: p, protocol: TCP}, {port: 81, name: q, protocol: TCP}]}}", desired: "{spec: {ports: [{port: 81, name: q}]}}", ours: port80, others: port81, want: "{spec: {ports: [{port: 81, name: q, protocol: TCP}]}}", mayDerive: true},
		"element of both": {
			live: "{spec: {ports: [{port: 80, protocol: TCP, name: p, target: 1, x: y}]}}", desired: "{spec: {ports: []}}", ours: port80, others: port80Bare, mayDerive: true,
			want: "{spec: {ports: [{port: 80, protocol: TCP, target: 1, x: y}]}}",
		},
		"list of both that isn't desired at all": {
			live:    "{spec: {ports: [{port: 80, protocol: TCP, name: p, target: 1}, {port: 81, protocol: TCP, name: q}, {port: 82, protocol: TCP}]}}",
			desired: "{spec: {}}", ours: both, others: port80Bare, mayDerive: true,
			want: "{spec: {ports: [{port: 80, protocol: TCP, target: 1}, {port: 82, protocol: TCP}]}}",
		},
		"element whose key only one has": {
			live: "{spec: {ports: [{port: 80, protocol: TCP, name: p}]}}", desired: "{spec: {ports: []}}", ours: port80, mayDerive: true,
			others: `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:x":{}}}}}`, want: "{spec: {ports: [{port: 80, protocol: TCP}]}}",
		},
		"element that another has only changed": {
			live: "{spec: {ports: [{port: 80, protocol: TCP, name: p, x: 1}]}}", desired: "{spec: {ports: []}}", ours: port80,
			others: `{"f:spec":{"f:ports":{"k:{\"port\":80,\"protocol\":\"TCP\"}":{"f:x":{}}}}}`, want: "{spec: {ports: []}}",
		},
		"entry that another has as well": {
			live: "{spec: {m: {a: {x: 1}, b: {x: 1}}}}", desired: "{spec: {m: {a: {x: 1}}}}",
			ours: `{"f:spec":{"f:m":{"f:a":{".":{},"f:x":{}},"f:b":{".":{},"f:x":{}}}}}`, others: `{"f:spec":{"f:m":{"f:b":{}}}}`,
			want: "{spec: {m: {a: {x: 1}, b: {}}}}",
		},
		"list that another has as well": {
			live: "{spec: {a: 1, l: [x]}}", desired: "{spec: {a: 1}}",
			ours: `{"f:spec":{"f:a":{},"f:l":{"v:\"x\"":{}}}}`, others: `{"f:spec":{"f:l":{}}}`, want: "{spec: {a: 1, l: []}}",
		},
		"default stays": {live: "{spec: {a: 1, d: 5}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2, d: 5}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 2, d: 5}}"},
		"struct that comes back with the choice beside it": {
			live: "{spec: {u: {type: R, r: {p: 2}, n: 1}}}", desired: "{spec: {u: {}}}", fresh: "{spec: {u: {type: R, r: {p: 0}, n: 1}}}",
			ours: `{"f:spec":{"f:u":{".":{},"f:r":{".":{},"f:p":{}}}}}`, want: "{spec: {u: {n: 1}}}", stale: true, mayDerive: true,
		},
		"default that grows": {
			live: "{spec: {a: 1, d: {x: y}}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2, d: {x: y, z: z}}}", ours: `{"f:spec":{"f:a":{}}}`, stale: true,
			want: "{spec: {a: 2}}",
		},
		"default that grows around a fixed field": {
			live: "{spec: {a: 1, e: {replicas: 5}}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2, e: {replicas: 1, z: z}}}",
			ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 2, e: {replicas: 5}}}",
		},
		"fixed choice": {
			live: "{spec: {w: {type: R, r: {p: 2}}}}", desired: "{spec: {w: {}}}", fresh: "{spec: {w: {type: R, r: {p: 0}}}}",
			ours: `{"f:spec":{"f:w":{".":{},"f:r":{".":{},"f:p":{}}}}}`, want: "{spec: {w: {type: R}}}", mayDerive: true,
		},
		"default goes":       {live: "{spec: {a: 1, d: 5}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 2}}", stale: true},
		"default of another": {live: "{spec: {a: 1, d: 5}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2}}", ours: `{"f:spec":{"f:a":{}}}`, others: `{"f:spec":{"f:d":{}}}`, want: "{spec: {a: 2, d: 5}}"},
		"fixed":              {live: "{spec: {a: 1, replicas: 5}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2, replicas: 1}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 2, replicas: 5}}"},
		"its own":            {live: "{spec: {a: 1, clusterIP: x}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2, clusterIP: y}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 2, clusterIP: x}}"},
		"chosen at creation": {live: "{spec: {a: 1, class: x}}", desired: "{spec: {a: 2}}", fresh: "{spec: {a: 2, class: x}}", ours: `{"f:spec":{"f:a":{},"f:class":{}}}`, want: "{spec: {a: 2, class: x}}", released: ".spec.class"},
		"came":               {live: "{spec: {a: 1, types: [x]}}", desired: "{spec: {a: 1, b: 2}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 1, b: 2, types: [x]}}", mayDerive: true},
		"came beside plain":  {live: "{spec: {a: 1, plain: x}}", desired: "{spec: {a: 1, b: 2}}", ours: `{"f:spec":{"f:a":{}}}`, want: "{spec: {a: 1, b: 2, plain: x}}"},
		"another choice":     {live: "{spec: {type: x, x: {y: 1}}}", desired: "{spec: {type: z}}", ours: `{"f:spec":{"f:type":{}}}`, want: "{spec: {type: z, x: {y: 1}}}", mayDerive: true},
		"a number":           {live: "{spec: {m: 1, x: {z: 1}}}", desired: "{spec: {m: 2}}", ours: `{"f:spec":{"f:m":{}}}`, want: "{spec: {m: 2, x: {z: 1}}}"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := Run(objectsOf(t, c.live, c.desired, c.fresh, c.ours, c.others))
			assert.Equal(t, parse(t, c.want), r.Object)
			assert.Equal(t, c.stale, r.Stale)
			assert.Equal(t, c.mayDerive, r.MayDerive)
			var released string
			r.Released.Iterate(func(p fieldpath.Path) { released += p.String() })
			assert.Equal(t, c.released, released)
		})
	}
}

// A desired element may lack keys that have defaults: the new object has them.
func TestDesiredAs(t *testing.T) {
	list := func(text string) []any {
		l, _ := parse(t, "{l: "+text+"}")["l"].([]any)
		return l
	}
	three, two := []string{"mode", "port", "proto"}, []string{"mode", "port"}
	for name, c := range map[string]struct {
		desired, fresh, live string
		keys                 []string
		ours                 bool
		want                 int
	}{
		"all keys":                    {desired: "[{port: 80, mode: a}]", live: "{port: 80, mode: a}", keys: two, want: 0},
		"ours":                        {desired: "[{port: 80}]", live: "{port: 80, mode: a}", keys: two, ours: true, want: 0},
		"not ours":                    {desired: "[{port: 80}]", live: "{port: 80, mode: a}", keys: two, want: -1},
		"the default, of another":     {desired: "[{port: 80}]", fresh: "[{port: 80, mode: a}]", live: "{port: 80, mode: a}", keys: two, want: 0},
		"another than the default":    {desired: "[{port: 80}]", fresh: "[{port: 80, mode: a}]", live: "{port: 80, mode: b}", keys: two, ours: true, want: -1},
		"the one with more keys":      {desired: "[{port: 80}, {port: 80, mode: b}]", live: "{port: 80, mode: b, proto: t}", keys: three, ours: true, want: 1},
		"the same place":              {desired: "[{port: 80}, {mode: b}]", fresh: "[{port: 80, mode: a}, {port: 1, mode: b}]", live: "{port: 1, mode: b}", keys: two, want: 1},
		"the same place, of two keys": {desired: "[{port: 1}, {mode: b}]", fresh: "[{port: 1, mode: a}, {port: 1, mode: b}]", live: "{port: 1, mode: b}", keys: two, want: 1},
		"elements that admission adds": {
			desired: "[{port: 80}, {port: 81, mode: b}]", fresh: "[{port: 7, mode: x}, {port: 80, mode: a, proto: t}, {port: 81, mode: b, proto: t}]",
			live: "{port: 81, mode: b, proto: t}", keys: three, want: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var fresh any
			if c.fresh != "" {
				fresh = list(c.fresh)
			}
			assert.Equal(t, c.want, desiredAs(list(c.desired), fresh, list("[" + c.live + "]")[0], c.keys, c.ours))
		})
	}
}

func TestIgnoredFieldsStay(t *testing.T) {
	o := objectsOf(t, "{spec: {a: 1, d: 5, in: {x: 1, y: 2}}}", "{spec: {a: 2}}", "{spec: {a: 2, d: 1}}", `{"f:spec":{"f:a":{}}}`, "")
	for _, text := range []string{"spec.d", "spec.in.x"} {
		path, err := paths.Parse(text)
		require.NoError(t, err)
		o.Ignored = append(o.Ignored, path)
	}
	r := Run(o)
	assert.Equal(t, parse(t, "{spec: {a: 2, d: 5, in: {x: 1}}}"), r.Object)
	a := Amend(o, r)
	assert.False(t, a.Widen("spec.a", ""))
	assert.Equal(t, parse(t, "{spec: {a: 2, d: 5, in: {x: 1}}}"), a.Object)
}

// A path may choose the live element only, if the desired one lacks a field that the API server has set.
func TestIgnoredElementStays(t *testing.T) {
	o := objectsOf(t, "{spec: {ports: [{port: 80, name: p, protocol: TCP}]}}", "{spec: {ports: [{port: 80}]}}", "", port80, "")
	path, err := paths.Parse("spec.ports[port=80,name=p]")
	require.NoError(t, err)
	o.Ignored = []paths.Path{path}
	r := Run(o)
	assert.Equal(t, o.Live, r.Object)
	assert.Empty(t, r.Differences)
}

// A path that goes into a list by a name names nothing.
func TestIgnoredNameInListIsNothing(t *testing.T) {
	o := objectsOf(t, "{spec: {ports: [{port: 80, name: p, protocol: TCP}]}}", "{spec: {ports: [{port: 80, name: q}]}}", "", port80, "")
	path, err := paths.Parse("spec.ports.name")
	require.NoError(t, err)
	o.Ignored = []paths.Path{path}
	assert.Equal(t, parse(t, "{spec: {ports: [{port: 80, name: q, protocol: TCP}]}}"), Run(o).Object)
}

func TestDifferencesSayWhose(t *testing.T) {
	r := Run(objectsOf(t, "{spec: {a: 1, b: 1}}", "{spec: {a: 2, b: 2, c: 2}}", "", `{"f:spec":{"f:a":{}}}`, `{"f:spec":{"f:b":{}}}`))
	got := map[string]bool{}
	for _, d := range r.Differences {
		got[d.Path.String()] = d.Theirs
	}
	assert.Equal(t, map[string]bool{".spec.a": false, ".spec.b": true, ".spec.c": false}, got)
}

func TestAmend(t *testing.T) {
	const ports = `{"f:spec":{"f:ports":{"k:{\"port\":81}":{"f:name":{}}}}}`
	const nested = `{"f:spec":{"f:c":{"k:{\"name\":\"theirs\"}":{"f:ports":{"k:{\"port\":1}":{"f:host":{}}}}}}}`
	const union = `{"f:spec":{"f:kind":{".":{},"f:theirs":{".":{},"f:x":{}},"f:note":{}},"f:replicas":{},"f:far":{}}}`
	cases := map[string]struct {
		live, desired, ours, others string
		ignored                     string
		faults                      []string
		message                     string
		want                        []string // of each step, until there is none
		more                        bool     // undesired fields are left
	}{
		"what isn't desired": {
			more: true,
			live: "{spec: {kind: {theirs: {x: 1}}}}", desired: "{spec: {kind: {ours: 1}}}", others: union,
			faults: []string{"spec.kind.theirs"}, want: []string{"{spec: {kind: {ours: 1}}}"},
		},
		"what the message names": {
			live: "{spec: {kind: {theirs: {x: 1}, note: n}}}", desired: "{spec: {kind: {ours: 1}}}", others: union,
			faults: []string{"spec.kind.ours"}, message: "not beside `theirs`",
			want: []string{"{spec: {kind: {ours: 1, note: n}}}", "{spec: {kind: {ours: 1}}}"},
		},
		"ever wider, but for replicas": {
			live: "{spec: {kind: {theirs: {x: 1}, note: n}, replicas: 5, far: 1}}", desired: "{spec: {kind: {ours: 1}}}", others: union,
			faults: []string{"spec.kind.ours"},
			want:   []string{"{spec: {kind: {ours: 1}, replicas: 5, far: 1}}", "{spec: {kind: {ours: 1}, replicas: 5}}"},
		},
		"an element": {
			more: true,
			live: "{spec: {ports: [{port: 81, name: p, protocol: TCP}]}}", desired: "{spec: {ports: [{port: 80, name: p}]}}", others: port81,
			faults: []string{"spec.ports[0].name"}, want: []string{"{spec: {ports: [{port: 80, name: p}]}}"},
		},
		"the smallest element of an undesired one": {
			more:    true,
			live:    "{spec: {c: [{name: ours}, {name: theirs, ports: [{port: 1, host: 2}, {port: 3}]}]}}",
			desired: "{spec: {c: [{name: ours}]}}", others: nested, faults: []string{"spec.c[1].ports[0].host"},
			want: []string{"{spec: {c: [{name: ours}, {name: theirs, ports: [{port: 3}]}]}}"},
		},
		"two faults of one element": {
			more:    true,
			live:    "{spec: {c: [{name: theirs, ports: [{port: 1, host: 2}, {port: 3, host: 4}, {port: 5}]}]}}",
			desired: "{spec: {}}", others: nested, faults: []string{"spec.c[0].ports[0].host", "spec.c[0].ports[1].host", "spec.c[0].ports[0]"},
			want: []string{"{spec: {c: [{name: theirs, ports: [{port: 5}]}]}}"},
		},
		"an ignored element": {
			live: "{spec: {c: [{name: theirs, ports: [{port: 1, host: 2}]}]}}", desired: "{spec: {}}", others: nested,
			ignored: "spec.c[name=theirs]", faults: []string{"spec.c[0].ports[0].host"},
		},
		"an element with an ignored field": {
			live: "{spec: {c: [{name: theirs, note: n, ports: [{port: 1, host: 2}]}]}}", desired: "{spec: {}}", others: nested,
			ignored: "spec.c[name=theirs].note", faults: []string{"spec.c[0].name"},
		},
		"an element beside the one at fault": {
			live: "{spec: {ports: [{port: 81, name: p, protocol: TCP}]}}", desired: "{spec: {ports: [{port: 80, name: p}]}}", others: port81,
			faults: []string{"spec.ports[1].name"}, want: []string{"{spec: {ports: [{port: 80, name: p}]}}"},
		},
		"one that can't be removed": {
			more: true,
			live: "{spec: {a: 1, fixed: 2}}", desired: "{spec: {a: 1}}", ours: `{"f:spec":{"f:a":{},"f:fixed":{}}}`,
			faults: []string{"spec.fixed"}, want: []string{"{spec: {a: 1, fixed: 2}}"},
		},
		"one that can't be removed from an undesired entry": {
			live: "{spec: {m: {a: {size: 1, note: n}, b: {size: 1}}}}", desired: "{spec: {m: {b: {size: 1}}}}",
			ours:   `{"f:spec":{"f:m":{"f:a":{".":{},"f:size":{}},"f:b":{".":{},"f:size":{}}}}}`,
			others: `{"f:spec":{"f:m":{"f:a":{"f:note":{}}}}}`,
			faults: []string{"spec.m.a.size"}, want: []string{"{spec: {m: {b: {size: 1}}}}"},
		},
		"only the elements that are in the way": {
			live:    "{spec: {ports: [{port: 79, name: a}, {port: 81, name: p}, {port: 82, name: q}, {port: 9090, name: metrics, extra: x}]}}",
			desired: "{spec: {ports: [{port: 79, name: a}, {port: 83, name: p}, {port: 84, name: q}]}}", others: ports,
			faults: []string{"spec.ports[4].name", "spec.ports[5].name"},
			want: []string{
				"{spec: {ports: [{port: 79, name: a}, {port: 82, name: q}, {port: 9090, name: metrics, extra: x}, {port: 83, name: p}, {port: 84, name: q}]}}",
				"{spec: {ports: [{port: 79, name: a}, {port: 9090, name: metrics, extra: x}, {port: 83, name: p}, {port: 84, name: q}]}}",
			},
		},
		"in a list within an element": {
			live:    "{spec: {c: [{name: w, ports: [{port: 80}]}, {name: theirs, ports: [{port: 1, host: 1}, {port: 2, host: 80}]}, {name: far}]}}",
			desired: "{spec: {c: [{name: w, ports: [{port: 80, host: 80}]}]}}", others: nested,
			faults: []string{"spec.c[0].ports[0].host"},
			want: []string{
				"{spec: {c: [{name: w, ports: [{port: 80, host: 80}]}, {name: far}]}}",
				"{spec: {c: [{name: w, ports: [{port: 80, host: 80}]}]}}",
			},
		},
		"a key that is a number": {
			more: true,
			live: `{data: {a: "1", "80": x, "-1": y, theirs: z}}`, desired: `{data: {a: "1"}}`, others: `{"f:data":{".":{},"f:80":{},"f:-1":{},"f:theirs":{}}}`,
			faults: []string{"data[80]", "data[-1]"}, want: []string{`{data: {a: "1", theirs: z}}`},
		},
		"an element that isn't there": {
			live: "{spec: {ports: [{port: 81, name: p, protocol: TCP}]}}", desired: "{spec: {ports: [{port: 81, protocol: TCP}]}}", ours: port81,
			faults: []string{"spec.ports[-1].name"},
		},
		"the object as a whole": {
			live:    "{metadata: {labels: {b: x}}, spec: {a: 1, b: 2, in: {b: 3, c: 4, d: 5}, l: [{port: 81}], replicas: 5}, status: {b: 6}}",
			desired: "{spec: {a: 1, in: {d: 5}, l: []}}", others: `{"f:spec":{"f:l":{"k:{\"port\":81}":{".":{},"f:port":{}}},"f:replicas":{}}}`,
			faults: []string{"<nil>"}, message: "either a or b",
			want: []string{
				"{metadata: {labels: {b: x}}, spec: {a: 1, in: {c: 4, d: 5}, l: [{port: 81}], replicas: 5}, status: {b: 6}}",
				"{metadata: {labels: {b: x}}, spec: {a: 1, in: {d: 5}, l: [], replicas: 5}, status: {b: 6}}",
			},
		},
		"the same key in another map": {
			live: `{data: {b: "1"}, more: {a: x, b: y}, other: {a: z}}`, desired: `{data: {a: "1", b: "1"}}`, others: `{"f:more":{"f:a":{},"f:b":{}}}`,
			faults: []string{"data[a]"}, message: `Invalid value: "a": duplicate of key present in more`,
			want: []string{`{data: {a: "1", b: "1"}, more: {b: y}, other: {a: z}}`},
		},
		"the same key in an ignored map": {
			live: `{data: {b: "1"}, more: {a: x, b: y}}`, desired: `{data: {a: "1", b: "1"}}`, others: `{"f:more":{"f:a":{},"f:b":{}}}`,
			ignored: "more", faults: []string{"data[a]"}, message: `Invalid value: "a": duplicate of key present in more`,
		},
		"elements with a value that the message names": {
			live:    "{spec: {ports: [{port: 81, name: p, node: 7}, {port: 82, name: q, node: 8}]}}",
			desired: "{spec: {ports: [{port: 80, name: a, node: 7}]}}", others: ports,
			faults: []string{"spec.ports"}, message: "duplicate node: {TCP 7}",
			want: []string{
				"{spec: {ports: [{port: 82, name: q, node: 8}, {port: 80, name: a, node: 7}]}}",
				"{spec: {ports: [{port: 80, name: a, node: 7}]}}",
			},
		},
		"nothing of others": {live: "{spec: {a: 1}}", desired: "{spec: {a: 2}}", ours: `{"f:spec":{"f:a":{}}}`, faults: []string{"spec.a"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			o := objectsOf(t, c.live, c.desired, "", c.ours, c.others)
			if c.ignored != "" {
				path, err := paths.Parse(c.ignored)
				require.NoError(t, err)
				o.Ignored = []paths.Path{path}
			}
			a := Amend(o, Run(o))
			for _, want := range c.want {
				assert.True(t, a.Direct(c.faults) || a.Widen(c.faults[0], c.message))
				assert.Equal(t, parse(t, want), a.Object)
			}
			if !c.more {
				assert.False(t, a.Widen(c.faults[0], c.message))
			}
		})
	}
}

// An apply after the patch must remove nothing: of a map or list that it empties it makes null, which the schema of a custom resource
// refuses.
func TestUndesired(t *testing.T) {
	const ours = `{"f:spec":{"f:a":{},"f:m":{".":{},"f:x":{".":{},"f:y":{}}},"f:s":{"v:\"b\"":{},"v:\"c\"":{}},"f:u":{".":{},"f:r":{}}}}`
	o := objectsOf(t, "{}", "{spec: {a: 1, s: [c], u: {}, ports: [{port: 80}]}}", "", "", "")
	all := set(t, ours).Union(set(t, both))
	assert.Equal(t, []string{".spec.m", ".spec.m.x", ".spec.m.x.y", `.spec.ports[port=80,protocol="TCP"].name`, `.spec.ports[port=81,protocol="TCP"]`,
		`.spec.ports[port=81,protocol="TCP"].name`, `.spec.s[="b"]`, ".spec.u.r"}, sortedTexts(o.Undesired(all)))
	o.Drift = true
	assert.True(t, o.Undesired(all).Empty())
}

func sortedTexts(s *fieldpath.Set) (all []string) {
	s.Iterate(func(p fieldpath.Path) { all = append(all, p.String()) })
	slices.Sort(all)
	return all
}

func TestStepsOf(t *testing.T) {
	assert.Equal(t, []step{{"spec", -1}, {"ports", -1}, {"1", 1}, {"name", -1}}, stepsOf("spec.ports[1].name"))
	assert.Equal(t, []step{{"data", -1}, {"a.b/c", -1}}, stepsOf("data[a.b/c]"))
	assert.Equal(t, []step{{"data", -1}, {"-1", -1}}, stepsOf("data[-1]"))
	assert.Empty(t, stepsOf("<nil>"))
	assert.Equal(t, []string{"spec", "ports", "name"}, NamesOf("spec.ports[1].name"))
	assert.True(t, mentions("`maxUnavailable` and minAvailable", "maxUnavailable"))
	assert.False(t, mentions("maxUnavailables", "maxUnavailable"))
}
