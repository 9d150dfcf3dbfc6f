package builder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/test/testcluster"
)

// rounds is how often a property is tried for each kind.
func rounds() int { return testsize.Pick(1, 10) }

// newProperty returns a world without a cache, and a source of variants that says how to have the same again.
func newProperty(t *testing.T, seed uint64) (*world, variants) {
	t.Helper()
	t.Logf("seed %d", seed)
	w := &world{t: t, ctx: t.Context(), ns: testcluster.Namespace(t), sent: &ledger{}, told: &recorder{}}
	var err error
	w.live, err = client.New(testcluster.Config(t), client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	w.live = client.WithFieldOwner(w.live, "someone-else")
	own, err := client.New(w.sent.watch(testcluster.Config(t)), client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	w.engine = builder.NewEngine(own, builder.Options{Name: "tester", Recorder: w.told, Reader: own})
	w.owner = w.newOwner("owner")
	return w, variants{rand.New(rand.NewPCG(seed, 1))}
}

// ownerOf returns the owner in the namespace, or for a kind without namespaces one that has none either.
func (w *world) ownerOf(desired client.Object) client.Object {
	namespaced, err := w.live.IsObjectNamespaced(desired)
	require.NoError(w.t, err)
	if namespaced {
		return w.owner
	}
	owner := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-owner"}}
	require.NoError(w.t, client.IgnoreAlreadyExists(w.live.Create(w.ctx, owner)))
	require.NoError(w.t, w.live.Get(w.ctx, client.ObjectKeyFromObject(owner), owner))
	return owner
}

// brings runs passes until one meets no conflict with a controller, and returns the writes of the last one.
func (w *world) brings(desired client.Object) (res builder.Result, writes int, err error) {
	owner := w.ownerOf(desired)
	for range 20 {
		w.sent.reset()
		res, err = w.engine.For(owner).Object(desired, builder.RecreateImmutable("")).Reconcile(w.ctx)
		if !apierrors.IsConflict(leaf(err)) {
			break
		}
	}
	return res, len(w.sent.all()) - w.sent.count("GET", ""), err
}

// makers returns what makes the variants of each kind, and in a long run of many kinds wide ones, too.
func (w *world) makers(v variants) map[string]func() client.Object {
	makers := v.kinds()
	if testsize.Long() {
		for kind, variant := range (wide{v}).kinds() {
			makers[kind+"/wide"] = func() client.Object { return w.valid(variant) }
		}
	}
	return makers
}

// valid returns the first of several variants that the API server would create.
func (w *world) valid(variant func() client.Object) client.Object {
	var err error
	for range 50 {
		obj := variant()
		try := obj.DeepCopyObject().(client.Object)
		try.SetNamespace(w.ns)
		try.SetName("try-" + w.ns)
		if err = w.live.Create(w.ctx, try, client.DryRunAll); err == nil {
			return obj
		}
	}
	panic(fmt.Sprintf("no variant is valid, the last because of %v", err))
}

// named gives a variant its name and labels. Each has others, so that a variant is always a change.
func (v variants) named(obj client.Object, name string) client.Object {
	obj.SetName(name)
	obj.SetLabels(map[string]string{"number": fmt.Sprint(v.Int32())})
	return obj
}

// nameIn returns a name that no object has: some kinds have no namespaces, and some objects make others of their name.
func (v variants) nameIn(namespace string) string { return fmt.Sprintf("%s-%x", namespace, v.Uint32()) }

// Whatever others make of an object, by an update or by an apply: it is put back, is the same object, is never called
// immutable, and costs nothing from then on.
func TestDriftOfEveryKind(t *testing.T) {
	w, v := newProperty(t, rand.Uint64())
	for kind, variant := range w.makers(v) {
		t.Run(kind, func(t *testing.T) {
			w := *w
			w.t = t
			for range rounds() {
				desired := v.named(variant(), v.nameIn(w.ns))
				_, _, err := w.brings(desired)
				require.NoError(t, err)
				if v.maybe() {
					desired = v.named(variant(), desired.GetName())
					_, _, err := w.brings(desired)
					require.NoError(t, err)
				}
				before := w.get(desired)
				how, edit := "update", variant()
				if v.maybe() {
					how = "apply"
				}
				if err := w.drift(before, edit, how); apierrors.IsInvalid(err) {
					continue // others can't do it either
				} else {
					require.NoError(t, err)
				}
				what := fmt.Sprintf("%s of\n%s\nover\n%s", how, asJSON(edit), asJSON(desired))
				_, _, err = w.brings(desired)
				require.NoError(t, err, "%s", what)
				after := w.get(desired)
				require.Equal(t, before.GetUID(), after.GetUID(), "%s", what)
				_, writes, err := w.brings(desired)
				require.NoError(t, err)
				require.Zero(t, writes, "%s\nis\n%s", what, asJSON(after))
				desired = v.named(variant(), desired.GetName())
				_, _, err = w.brings(desired)
				then := fmt.Sprintf("%s\nthen\n%s\nby %v", what, asJSON(desired), w.sent.all())
				require.NoError(t, err, then)
				require.Equal(t, before.GetUID(), w.get(desired, then).GetUID(), then)
			}
		})
	}
}

// drift makes the spec of an object that of another, as someone else.
func (w *world) drift(live, edit client.Object, how string) error {
	from, err := runtime.DefaultUnstructuredConverter.ToUnstructured(edit)
	require.NoError(w.t, err)
	for _, name := range []string{"apiVersion", "kind", "metadata", "status"} {
		delete(from, name)
	}
	if how == "update" {
		for range 20 {
			into, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.get(live))
			require.NoError(w.t, err)
			maps.Copy(into, from)
			obj := live.DeepCopyObject().(client.Object)
			require.NoError(w.t, runtime.DefaultUnstructuredConverter.FromUnstructured(into, obj))
			if err = w.live.Update(w.ctx, obj); !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	gvk, err := w.live.GroupVersionKindFor(live)
	require.NoError(w.t, err)
	u := &unstructured.Unstructured{Object: from}
	u.SetGroupVersionKind(gvk)
	u.SetName(live.GetName())
	body, err := json.Marshal(u.Object)
	require.NoError(w.t, err)
	return w.live.Patch(context.WithoutCancel(w.ctx), live.DeepCopyObject().(client.Object), client.RawPatch(types.ApplyPatchType, body), client.ForceOwnership)
}

func asJSON(obj any) string {
	data, _ := json.Marshal(obj)
	return string(data)
}

// Whatever was desired before, an object becomes what a new one would be. The only exceptions are what each object has
// alone: the addresses and node ports of a Service, and the time of a taint.
func TestHistoryOfEveryKind(t *testing.T) {
	w, v := newProperty(t, rand.Uint64())
	for kind, variant := range w.makers(v) {
		most := 6
		if strings.HasSuffix(kind, "/wide") {
			most = 10 // an apply that loses a struct without a field is repeated, and each of the two may be refused at first
		}
		t.Run(kind, func(t *testing.T) {
			w := *w
			w.t = t
			for range rounds() {
				desired := v.named(variant(), v.nameIn(w.ns))
				_, _, err := w.brings(desired)
				require.NoError(t, err)
				before, story := w.get(desired).GetUID(), asJSON(desired)
				for range 4 {
					desired = v.named(variant(), desired.GetName())
					story += "\n" + asJSON(desired)
					_, writes, err := w.brings(desired)
					require.NoError(t, err, story)
					require.LessOrEqual(t, writes, most, "%v\n%s", w.sent.all(), story)
					require.Equal(t, before, w.get(desired).GetUID(), story)
					require.Equal(t, comparable(specOf(t, w.fresh(desired))), comparable(specOf(t, w.get(desired))), story)
					_, writes, err = w.brings(desired)
					require.NoError(t, err)
					assert.Zero(t, writes, story)
				}
			}
		})
	}
}

// What nobody desires of an operator: it is made by the cluster itself, or only asked for.
var nobodysChild = map[string]string{
	"Event":                     "events",
	"Node":                      "kubelets",
	"Namespace":                 "has nothing that can be changed, and its deletion deletes all that is in it",
	"CSINode":                   "kubelets",
	"ResourceSlice":             "drivers",
	"VolumeAttachment":          "the attach-detach controller",
	"CertificateSigningRequest": "a request, answered once",
	"PodCertificateRequest":     "a request of kubelets",
	"StorageVersionMigration":   "a request, carried out once",
	"IPAddress":                 "the API server's addresses of Services",
	"ServiceCIDR":               "would be the addresses of this cluster's Services at once",
}

// Each kind of the scheme that the API server lets anyone apply has variants, so that a new one can't be forgotten.
func TestVariantsOfEveryKind(t *testing.T) {
	_, v := newProperty(t, 1)
	has := v.kinds()
	server, err := discovery.NewDiscoveryClientForConfig(testcluster.Config(t))
	require.NoError(t, err)
	lists, err := server.ServerPreferredResources()
	require.NoError(t, err)
	seen := 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		require.NoError(t, err)
		for _, served := range list.APIResources {
			verbs := sets.New(served.Verbs...)
			if !clientgoscheme.Scheme.Recognizes(version.WithKind(served.Kind)) || !verbs.HasAll("create", "patch", "delete") || strings.Contains(served.Name, "/") {
				continue
			}
			seen++
			_, exempt := nobodysChild[served.Kind]
			assert.NotEqual(t, has[served.Kind] != nil, exempt, "%s needs a maker in variants.unions or variants.plain, or a reason in nobodysChild", version.WithKind(served.Kind))
		}
	}
	assert.Greater(t, seen, 40)
}
