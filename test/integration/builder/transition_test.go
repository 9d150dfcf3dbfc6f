package builder_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/test/testcluster"
)

// transition is a change of a Gadget that a rule about its former state refuses, and what the error says of it.
type transition struct {
	field, from, to string
	says            string
}

func transitions() map[string]transition {
	return map[string]transition{
		"field":            {"fixed", "{seal: a}", "{seal: b}", `spec.fixed.seal (is "a", desired "b")`},
		"default replaced": {"fixed", "{seal: a}", "{seal: a, brand: b}", `spec.fixed.brand (is "acme", desired "b")`},
		"back to default":  {"fixed", "{brand: b}", "{seal: a}", `spec.fixed.brand (is "b", desired unset)`},
		"list":             {"fixed", "{route: [a]}", "{route: [a, b]}", `spec.fixed.route (is another, desired another)`},
		"one way":          {"phase", "Live", "Draft", `spec.phase (is "Live", desired "Draft")`},
		"two fields":       {"deal", "{tier: a, seats: 2}", "{tier: b, seats: 1}", `spec.deal.tier (is "a", desired "b")`},
		"element of a list": {
			"disks", "[{name: a}, {name: b, class: x}]", "[{name: b, class: w}, {name: c}]", `spec.disks[name=b].class (is "x", desired "w")`,
		},
		"shrunk":         {"disks", "[{name: a, size: 2}]", "[{name: a, size: 1}]", `spec.disks[name=a].size (is "2", desired "1")`},
		"entry of a map": {"lanes", "{a: {mode: x}, b: {note: x}}", "{a: {mode: w}, b: {note: w}}", `spec.lanes.a.mode (is "x", desired "w")`},
		"removed":        {"pinned", "a", "", `spec.pinned (is "a", desired unset)`},
		"removed alone":  {"pinned", "a", "", `spec.pinned (is "a", desired unset)`},
	}
}

// A rule of a custom resource refuses a change. The error names the field in the same words as Ignore does, whatever the object's history
// is and whatever another writer has set beside it. What the options say is done, and nothing is written after that.
func TestRefusedTransitionsOfAGadget(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/gadgets")
	for name, c := range transitions() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, v := newProperty(t, rand.Uint64())
			with := func(value, other, otherValue string) map[string]string {
				if name == "removed alone" { // an apply that removes the only field makes null of the spec
					return map[string]string{c.field: value}
				}
				return map[string]string{c.field: value, other: otherValue}
			}
			for _, applied := range []bool{false, true} {
				for _, beside := range []bool{false, true} {
					life := fmt.Sprintf("applied %v, another writer's fields beside it %v", applied, beside)
					child := func(name string) *unstructured.Unstructured {
						obj := gadgetOf(t, name, with(c.from, "limit", "1"))
						w.mustBring(obj, nil, false, life)
						if applied {
							obj.SetLabels(map[string]string{"step": "applied"})
							w.mustBring(obj, nil, true, life)
						}
						if beside {
							require.NoError(t, w.editGadget(obj, gadgetOf(t, name, map[string]string{"maybe": "x", "limit": "5"}), "merge"))
						}
						return obj
					}
					refused := func(name string) *unstructured.Unstructured {
						return gadgetOf(t, name, with(c.to, "filled", "b"))
					}
					run := func(obj client.Object, opts ...builder.ChildOption) (builder.Result, int, error) {
						w.sent.reset()
						res, err := w.engine.For(w.owner).Object(obj, opts...).Reconcile(w.ctx)
						return res, len(w.sent.all()) - w.sent.count(http.MethodGet, ""), err
					}

					before := child(v.nameIn("fail"))
					live, spec := w.get(before), asJSON(specOf(t, w.get(before)))
					for range 2 {
						_, _, err := run(refused(before.GetName()))
						require.ErrorIs(t, err, builder.ErrImmutable, life)
						require.ErrorContains(t, err, c.says, life)
						require.NotContains(t, err.Error(), "name=c", life)
						require.True(t, builder.IsTerminal(err), life)
					}
					require.Equal(t, spec, asJSON(specOf(t, w.get(before))), life)
					w.mustBring(before, live, true, life)

					before = child(v.nameIn("keep"))
					spec = asJSON(specOf(t, w.get(before)))
					_, _, err := run(refused(before.GetName()), builder.KeepImmutable())
					require.NoError(t, err, life)
					_, writes, err := run(refused(before.GetName()), builder.KeepImmutable())
					require.NoError(t, err, life)
					require.Zero(t, writes, life)
					require.Equal(t, spec, asJSON(specOf(t, w.get(before))), life)

					before = child(v.nameIn("recreate"))
					live = w.get(before)
					res, _, err := w.brings(refused(before.GetName()))
					require.NoError(t, err, life)
					require.NotEmpty(t, res.Pending, life)
					w.mustBring(refused(before.GetName()), nil, false, life)
					assert.NotEqual(t, live.GetUID(), w.get(before).GetUID(), life)
				}
			}
		})
	}
}

// KeepImmutable keeps an object for one desired state. Another one that was applied since may have made the change possible.
func TestKeptObjectIsTriedAgainAfterAnotherState(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/gadgets")
	w, _ := newProperty(t, rand.Uint64())
	run := func(fixed string) string {
		obj := gadgetOf(t, "g", map[string]string{"fixed": fixed, "limit": "1"})
		_, err := w.engine.For(w.owner).Object(obj, builder.KeepImmutable()).Reconcile(w.ctx)
		require.NoError(t, err)
		seal, _, err := unstructured.NestedString(w.get(obj).(*unstructured.Unstructured).Object, "spec", "fixed", "seal")
		require.NoError(t, err)
		return seal
	}
	require.Equal(t, "a", run("{seal: a}"))
	require.Equal(t, "a", run("{seal: b}"), "kept")
	require.Empty(t, run("{}"))
	require.Equal(t, "b", run("{seal: b}"))
}

// The API server creates an object with a field that it doesn't know, but applies none, and answers that like a fault of its own.
func TestFieldsThatTheSchemaLacks(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/gadgets")
	w, _ := newProperty(t, rand.Uint64())
	obj := gadgetOf(t, "g", map[string]string{"limit": "1", "unknown": "a"})
	_, _, err := w.brings(obj)
	require.NoError(t, err)
	for fields, desired := range map[string]map[string]string{
		"spec.unknown":            {"limit": "2", "unknown": "a"},
		"spec.disks[name=a].size": {"disks": "[{name: a, size: x}]"},
		"spec.pinned spec.phase":  {"pinned": "1", "phase": "[a]"},
	} {
		_, _, err := w.brings(gadgetOf(t, "g", desired))
		require.Error(t, err)
		assert.True(t, builder.IsTerminal(err), "%v", err)
		var about *builder.Error
		require.ErrorAs(t, err, &about)
		assert.ElementsMatch(t, strings.Fields(fields), about.Fields(), "%v", err)
	}
	_, _, err = w.brings(gadgetOf(t, "g", map[string]string{"limit": "2"}))
	require.NoError(t, err)
}

// Someone has reset the managed fields of an object, so that no writer has any. What the builder applies from then on is removed again
// when it is no longer desired, fields that no one has applied stay, and an event names those that were no longer desired at once.
func TestManagedFieldsThatSomeoneResets(t *testing.T) {
	w := newWorld(t)
	config := func(data ...string) *corev1.ConfigMap {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{}}
		for _, key := range data {
			c.Data[key] = "1"
		}
		return c
	}
	keys := func() []string { return slices.Sorted(maps.Keys(w.get(config()).(*corev1.ConfigMap).Data)) }
	w.mustWant(true, "create", config("a", "b", "c"))
	w.edit(config(), func(o client.Object) {
		o.(*corev1.ConfigMap).Data["theirs"] = "1"
		o.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
	})
	require.Empty(t, w.get(config()).GetManagedFields())
	w.mustWant(false, "as desired", config("a", "b", "c"))
	w.told.take()
	w.mustWant(true, "without c", config("a", "b"))
	assert.Contains(t, eventOf(w.told.take(), "FieldsLeft"), "ConfigMap c keeps data.c, data.theirs, which aren't desired: field manager before-first-apply")
	w.mustWant(true, "without b", config("a"))
	assert.Equal(t, []string{"a", "c", "theirs"}, keys())
	w.mustWant(false, "as desired", config("a"))
	w.mustWant(true, "the remedy", config("a"), builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"before-first-apply"}}))
	assert.Equal(t, []string{"a"}, keys())
}
