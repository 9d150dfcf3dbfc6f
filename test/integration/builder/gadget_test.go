package builder_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/test/testcluster"
)

// gadgetFields are values of each field of a Gadget's spec. A schema of its own says how the API server merges each of them.
var gadgetFields = map[string][]string{
	"parts": {
		"{a: {size: 1}}", "{a: {left: x}}", "{a: {right: x}, b: {color: blue}}", "{b: {size: 2}}",
		"{a: {inner: {k: x}}, b: {}}", "{a: {inner: {l: x}, size: 1}}",
	},
	"strict":   {"{a: {size: 1}}", "{a: {size: 1, note: x}, b: {size: 2}}", "{b: {size: 2, note: w}}", "{a: {note: z, size: 3}}"},
	"settings": {"{level: debug}", "{note: x}", "{retry: {times: 5}}", "{retry: {wait: 1s}, note: w}"},
	"marks":    {"{x: '1'}", "{x: '2', w: '1'}", "{w: '1'}"},
	"box":      {"{width: 1}", "{width: 2, height: 1}", "{height: 1, unit: cm}"},
	"tags":     {"[a]", "[a, b]", "[b, c]", "[c]"},
	"steps":    {"[{run: a}]", "[{run: a, retries: 2}, {run: b}]", "[{run: b}]"},
	"members": {
		"[{name: a}]", "[{name: a, note: x}, {name: b, role: chief}]", "[{name: b, labels: {k: x}, groups: [g]}]",
		"[{name: a, labels: {l: w}, groups: [h]}]", "[{name: b, labels: {l: w}, note: w, groups: [g, h]}]",
	},
	"ports": {
		"[{port: 80}]", "[{port: 80, name: p}]", "[{port: 80, mode: odd, name: p}, {port: 80, note: x}]", "[{port: 81, name: p}]",
		"[{port: 80, mode: plain, name: q}, {port: 81, mode: odd}]",
	},
	"free":   {"{a: 1}", "{a: {b: x}}", "{a: {c: w}, l: [1, 2]}", "{l: [{x: 1}], z: true}"},
	"limit":  {"1", "2", "50%"},
	"maybe":  {"a", "b"},
	"filled": {"a", "b"},
	"source": {"{http: {port: 80}}", "{http: {path: /a}}", "{exec: {command: [a]}}", "{file: f}"},
	"update": {"{}", "{type: Recreate}", "{type: Rolling}", "{rolling: {}}", "{type: Rolling, rolling: {surge: 2}}", "{rolling: {pause: 1}}"},
	"store":  {"{class: a}", "{class: a, size: 1}", "{size: 2}"},
}

// gadgetOf returns a Gadget with some fields of its spec.
func gadgetOf(t *testing.T, name string, fields map[string]string) *unstructured.Unstructured {
	t.Helper()
	spec := map[string]any{}
	for field, text := range fields {
		if text != "" {
			var value any
			require.NoError(t, yaml.Unmarshal([]byte(text), &value))
			spec[field] = value
		}
	}
	u := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	u.SetGroupVersionKind(widgetVersion.WithKind("Gadget"))
	u.SetName(name)
	return u
}

// gadgetLife is the life of a Gadget: the builder makes it, another writer edits it, and then another state is desired.
type gadgetLife struct {
	from, edit, to map[string]string
	how            string // the other writer's request: update, merge or apply; none for no edit
	applied        bool   // the builder changes a label before the edit, so that its fields are those of an apply
}

func (l gadgetLife) String() string {
	return fmt.Sprintf("%s, %s %s, then %s; applied: %v", asJSON(l.from), l.how, asJSON(l.edit), asJSON(l.to), l.applied)
}

// editGadget makes an edit as another writer.
func (w *world) editGadget(like, edit *unstructured.Unstructured, how string) error {
	live := w.get(like).(*unstructured.Unstructured)
	switch how {
	case "update":
		live.Object["spec"] = edit.Object["spec"]
		return w.live.Update(w.ctx, live)
	case "merge":
		body := asJSON(map[string]any{"spec": edit.Object["spec"]})
		return w.live.Patch(w.ctx, live, client.RawPatch(types.MergePatchType, []byte(body)))
	case "apply":
		return w.live.Patch(w.ctx, live, client.RawPatch(types.ApplyPatchType, []byte(asJSON(edit))), client.ForceOwnership)
	}
	return nil
}

// appliedSpec returns the spec that the object has after a server-side apply by the builder's field manager, empty if the API server
// refuses that.
func (w *world) appliedSpec(desired client.Object) string {
	w.t.Helper()
	obj := desired.DeepCopyObject().(client.Object)
	obj.SetNamespace(w.ns)
	obj.SetLabels(nil)
	err := w.live.Patch(w.ctx, obj, client.RawPatch(types.ApplyPatchType, []byte(asJSON(obj))), client.ForceOwnership,
		client.FieldOwner("tester"), client.DryRunAll)
	if apierrors.IsInvalid(err) {
		return ""
	}
	require.NoError(w.t, err)
	return sortedSets(asJSON(specOf(w.t, obj)))
}

// hasUpdated reports whether the builder's field manager has fields by an update, as after a creation.
func hasUpdated(obj client.Object) bool {
	return slices.ContainsFunc(obj.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == "tester" && entry.Operation == metav1.ManagedFieldsOperationUpdate
	})
}

// mustBring lets the builder bring an object to its desired state, and returns its spec. What a server-side apply can do is the
// same as that. Another apply would change nothing, and the builder writes nothing more. It stays the same object, if one is given.
func (w *world) mustBring(desired, before client.Object, isApply bool, story string) string {
	w.t.Helper()
	want := ""
	if isApply {
		want = w.appliedSpec(desired)
	}
	_, _, err := w.brings(desired)
	require.NoError(w.t, err, story)
	sent := fmt.Sprintf("%s\n%v", story, w.sent.all())
	after := w.get(desired, sent)
	if before != nil {
		require.Equal(w.t, before.GetUID(), after.GetUID(), sent)
	}
	got := sortedSets(asJSON(specOf(w.t, after)))
	if want != "" && want != "{}" { // an apply that empties all lists loses all around them, and another one brings them back
		require.Equal(w.t, want, got, "as applied: %s", sent)
	}
	require.Equal(w.t, got, w.appliedSpec(desired), "applied again: %s", sent)
	_, writes, err := w.brings(desired)
	require.NoError(w.t, err, story)
	require.Zero(w.t, writes, sent)
	return got
}

// liveGadget returns the last spec of a Gadget's life, empty if the API server refuses the edit.
func (w *world) liveGadget(l gadgetLife, name string) string {
	w.t.Helper()
	desired := gadgetOf(w.t, name, l.from)
	w.mustBring(desired, nil, false, l.String())
	if l.applied {
		desired.SetLabels(map[string]string{"step": "applied"})
		w.mustBring(desired, nil, true, l.String())
	}
	before := w.get(desired)
	if err := w.editGadget(desired, gadgetOf(w.t, name, l.edit), l.how); apierrors.IsInvalid(err) {
		return ""
	} else {
		require.NoError(w.t, err, l)
	}
	w.mustBring(desired, before, true, "drift of "+l.String())
	to := gadgetOf(w.t, name, l.to)
	to.SetLabels(map[string]string{"step": "changed"})
	spec := w.mustBring(to, before, !hasUpdated(w.get(to)), l.String())
	if l.how == "none" {
		require.Equal(w.t, sortedSets(asJSON(specOf(w.t, w.fresh(to)))), spec, "a new object: %s", l)
	}
	return spec
}

// withoutLeft returns a spec without the undesired entries of maps of structs. What another writer has set in one goes with it by an apply,
// and stays by a patch, which a refused change of another field may need: docs/concepts.md names this exception.
func (l gadgetLife) withoutLeft(t *testing.T, spec string) string {
	if spec == "" {
		return ""
	}
	of := map[string]map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(spec), &of))
	for _, field := range []string{"parts", "strict"} {
		var desired map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(l.to[field]), &desired))
		entries, _ := of["spec"][field].(map[string]any)
		maps.DeleteFunc(entries, func(name string, _ any) bool { return desired[name] == nil })
		if len(entries) == 0 {
			delete(of["spec"], field)
		}
	}
	return asJSON(of)
}

// sortedSets returns a spec with its sets in one order. The order in which they are merged depends on the history.
func sortedSets(spec string) string {
	for _, field := range []string{"tags", "groups"} {
		spec = regexp.MustCompile(`"`+field+`":\[[^]]*]`).ReplaceAllStringFunc(spec, func(set string) string {
			_, in, _ := strings.Cut(set, "[")
			elements := strings.Split(strings.TrimSuffix(in, "]"), ",")
			slices.Sort(elements)
			return `"` + field + `":[` + strings.Join(elements, ",") + "]"
		})
	}
	return spec
}

// livesOf returns all lives of a Gadget with values of one field.
func livesOf(field string) []gadgetLife {
	values := append([]string{""}, gadgetFields[field]...)
	with := func(value string) map[string]string { return map[string]string{field: value} }
	var all []gadgetLife
	for _, from := range values {
		for _, to := range values {
			all = append(all, gadgetLife{from: with(from), to: with(to), how: "none"})
			for _, edit := range values {
				for _, how := range []string{"update", "merge", "apply"} {
					all = append(all, gadgetLife{from: with(from), to: with(to), edit: with(edit), how: how})
				}
			}
		}
	}
	return all
}

// gadget returns values of some fields.
func (v variants) gadget() map[string]string {
	fields := map[string]string{}
	for _, field := range slices.Sorted(maps.Keys(gadgetFields)) {
		if v.maybe() {
			fields[field] = oneOf(v, gadgetFields[field]...)
		}
	}
	return fields
}

// knownLives are lives that once ended in another way than those of an object with another history, or in a deletion.
func knownLives() []gadgetLife {
	life := func(field, from, how, edit, to string) gadgetLife {
		return gadgetLife{from: map[string]string{field: from}, how: how, edit: map[string]string{field: edit}, to: map[string]string{field: to}}
	}
	return []gadgetLife{
		// Of a map or a struct that an apply empties it makes null.
		life("parts", "{a: {size: 1}}", "merge", "{a: {left: x}}", ""),
		life("parts", "{a: {right: x}, b: {color: blue}}", "merge", "{a: {right: x}, b: {color: blue}}", "{a: {inner: {k: x}}, b: {}}"),
		life("update", "{type: Rolling, rolling: {surge: 2}}", "update", "{}", "{rolling: {}}"),
		life("update", "{rolling: {surge: 2}}", "none", "", "{rolling: {}}"),
		// So do the defaults within what a patch before the apply has added.
		{
			from: map[string]string{"parts": "{b: {size: 2}}", "strict": "{a: {size: 1}}"}, how: "merge",
			edit: map[string]string{"parts": "{b: {left: x}}"}, to: map[string]string{"update": "{rolling: {}}"},
		},
		// Another manager applies an entry, too.
		life("parts", "{a: {inner: {k: x}}, b: {}}", "apply", "{a: {inner: {k: x}}, b: {}}", "{a: {left: x}}"),
		// What another manager has in an entry isn't valid without the builder's field.
		life("strict", "{a: {size: 1}}", "merge", "{a: {note: x}}", ""),
		// The desired element lacks a key, and another element has the rest of its keys.
		life("ports", "[{port: 80, mode: odd, name: p}, {port: 80, note: x}]", "apply", "[{port: 80, mode: odd, name: p}, {port: 80, note: x}]", "[{port: 80, name: p}]"),
		// A patch before the apply adds elements. Their order is that of an apply.
		{
			from: map[string]string{"parts": "{a: {left: x}}"}, how: "merge",
			edit: map[string]string{"ports": "[{port: 80, mode: plain, name: q}, {port: 81, mode: odd}]"},
			to:   map[string]string{"ports": "[{port: 80, mode: odd, name: p}, {port: 80, note: x}]"},
		},
		// A first apply loses the empty list, and all that is around it.
		life("tags", "[a]", "none", "", "[]"),
		// An empty struct is the choice of a member.
		life("update", "{rolling: {}}", "update", "{type: Rolling}", "{rolling: {}}"),
		life("source", "{exec: {}}", "update", "{http: {port: 80}}", "{exec: {}}"),
	}
}

// Whatever an object's history is, and whatever other writers have made of it: a desired state has the same result as a server-side
// apply where that is accepted, never deletes the object, and costs nothing once it is reached. A schema of its own says how the API
// server merges each field.
func TestLivesOfAGadget(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/gadgets")
	const most = 100
	fields := []string{"known"}
	if testsize.Long() {
		fields = append(slices.Sorted(maps.Keys(gadgetFields)), "known", "all")
	}
	for _, field := range fields {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			w, v := newProperty(t, rand.Uint64())
			var lives []gadgetLife
			switch field {
			case "known":
				lives = knownLives()
			case "all":
				for range 2 * most {
					lives = append(lives, gadgetLife{from: v.gadget(), edit: v.gadget(), to: v.gadget(), how: oneOf(v, "none", "update", "merge", "apply")})
				}
			default:
				lives = livesOf(field)
				v.Shuffle(len(lives), func(i, j int) { lives[i], lives[j] = lives[j], lives[i] })
				lives = lives[:min(len(lives), most)]
			}
			for i, l := range lives {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					w := *w
					w.t = t
					created := w.liveGadget(l, fmt.Sprintf("created-%d", i))
					l.applied = true
					applied := w.liveGadget(l, fmt.Sprintf("applied-%d", i))
					if field == "all" {
						created, applied = l.withoutLeft(t, created), l.withoutLeft(t, applied)
					}
					require.Equal(t, created, applied, "%s", l)
				})
			}
		})
	}
}
