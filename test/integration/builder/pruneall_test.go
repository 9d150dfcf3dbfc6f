package builder_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/test/testcluster"
)

// all runs a pass that prunes all. Like a reconciler, it reads its owner first.
func (w *world) all(objs ...client.Object) (builder.Result, []string, error) {
	w.settle(w.owner)
	require.NoError(w.t, w.cached.Get(w.ctx, client.ObjectKeyFromObject(w.owner), w.owner))
	return w.passFor(w.engine.For(w.owner).PruneAll(), objs...)
}

func (w *world) recorded() string {
	return w.get(w.owner).GetAnnotations()[wellknown.AnnotationGroupKinds]
}

func secret(name string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func serviceAccount(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func TestPruneAllKnowsKindsThatAreNoLongerWanted(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	other := w.newOwner("other")
	_, _, err := w.passFor(w.engine.For(other), secret("others"))
	require.NoError(t, err)

	_, sent, err := w.all(configMap("a"), secret("s"), serviceAccount("sa"))
	require.NoError(t, err)
	require.Len(t, sent, 4)
	assert.Contains(t, sent[0], "PATCH", "the record comes first")
	assert.Contains(t, sent[0], "/configmaps/owner")
	assert.Equal(t, "ConfigMap,Secret,ServiceAccount", w.recorded())
	for range 2 {
		_, sent, err = w.all(configMap("a"), secret("s"), serviceAccount("sa"))
		require.NoError(t, err)
		assert.Empty(t, sent)
	}

	// A new process, of a program that knows ConfigMaps alone.
	w.told.take()
	w.engine = builder.NewEngine(w.cached, builder.Options{Name: "tester", Recorder: w.told, Reader: w.engineReader()})
	res, _, err := w.all(configMap("b"))
	require.NoError(t, err)
	assert.Len(t, res.Changes, 4)
	for _, gone := range []client.Object{configMap("a"), secret("s"), serviceAccount("sa")} {
		assert.False(t, w.exists(gone), "%T", gone)
	}
	assert.True(t, w.exists(secret("others")))
	assert.Equal(t, "ConfigMap", w.recorded(), "what is gone is off the record")
	assert.Contains(t, w.told.take(), "Normal Deleted Prune: Deleted Secret s")
	_, sent, err = w.all(configMap("b"))
	require.NoError(t, err)
	assert.Empty(t, sent)

	_, _, err = w.all()
	require.NoError(t, err)
	assert.False(t, w.exists(configMap("b")))
	assert.Empty(t, w.recorded())
	assert.True(t, w.exists(w.owner))
	_, sent, err = w.all()
	require.NoError(t, err)
	assert.Empty(t, sent)
}

// engineReader reads past the cache, and is counted.
func (w *world) engineReader() client.Reader {
	c, err := client.New(w.sent.watch(testcluster.Config(w.t)), client.Options{Scheme: testScheme()})
	require.NoError(w.t, err)
	return c
}

func TestPruneAllInSeveralCallsOnOneOwner(t *testing.T) {
	w := newWorld(t)
	b := w.engine.For(w.owner).PruneAll()
	_, err := b.Create(w.ctx, configMap("a"))
	require.NoError(t, err)
	_, err = b.Create(w.ctx, secret("s"))
	require.NoError(t, err, "the owner as it was read before our own writes will do")
	assert.Equal(t, "ConfigMap,Secret", w.recorded())

	b = w.engine.For(w.owner).ConfigMap(configMap("a")).PruneAll()
	_, err = b.Reconcile(w.ctx)
	require.NoError(t, err)
	assert.True(t, w.exists(configMap("a")))
	assert.False(t, w.exists(secret("s")))
	assert.Equal(t, "ConfigMap", w.recorded())
}

func TestPruneAllAfterAnError(t *testing.T) {
	w := newWorld(t)
	_, _, err := w.all(secret("s"))
	require.NoError(t, err)
	bad := webDeployment()
	*bad.Spec.Replicas = -1
	_, _, err = w.all(bad)
	require.Error(t, err)
	assert.True(t, w.exists(secret("s")))
	assert.Equal(t, "Deployment.apps,Secret", w.recorded())
}

func TestARecordThatSomeoneElseWrote(t *testing.T) {
	w := newWorld(t)
	theirs := secret("theirs")
	theirs.Namespace = w.ns
	require.NoError(t, w.live.Create(w.ctx, theirs))
	w.edit(w.owner, func(o client.Object) {
		o.SetAnnotations(map[string]string{wellknown.AnnotationGroupKinds: " Secret,, Nonsense.example.com,x"})
	})
	_, _, err := w.all(configMap("a"))
	require.NoError(t, err)
	assert.True(t, w.exists(theirs))
	assert.Equal(t, "ConfigMap", w.recorded())
}

func TestAStaleOwnerDoesNotUndoTheRecord(t *testing.T) {
	w := newWorld(t)
	stale := w.get(w.owner).(*corev1.ConfigMap)
	w.edit(w.owner, func(o client.Object) {
		o.SetAnnotations(map[string]string{wellknown.AnnotationGroupKinds: "Secret"})
	})
	w.owner = stale
	_, _, err := w.passFor(w.engine.For(stale).PruneAll(), configMap("a"))
	require.True(t, apierrors.IsConflict(leaf(err)), "%v", err)
	assert.False(t, w.exists(configMap("a")), "nothing is created before it is on record")
	assert.Equal(t, "Secret", w.recorded())
}

// errCrash is what a crashing client answers.
var errCrash = errors.New("crashed")

// crashing is a client that dies after some writes: it makes them, and then none.
type crashing struct {
	client.Client
	left int
}

func (c *crashing) write(do func() error) error {
	if c.left == 0 {
		return errCrash
	}
	c.left--
	return do()
}

func (c *crashing) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return c.write(func() error { return c.Client.Create(ctx, obj, opts...) })
}

func (c *crashing) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return c.write(func() error { return c.Client.Patch(ctx, obj, patch, opts...) })
}

func (c *crashing) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return c.write(func() error { return c.Client.Delete(ctx, obj, opts...) })
}

// crashEverywhere runs a pass in processes that die after more and more writes, until one gets through.
func (w *world) crashEverywhere(pass func(*builder.Engine) error) (crashes int) {
	for ; ; crashes++ {
		require.Less(w.t, crashes, 20)
		engine := buildertest.NewEngine(&crashing{w.cached, crashes}, builder.Options{Name: "tester", Reader: w.live}, buildertest.EngineOptions{Parallelism: 1})
		w.settle(w.owner)
		require.NoError(w.t, client.IgnoreNotFound(w.cached.Get(w.ctx, client.ObjectKeyFromObject(w.owner), w.owner)))
		err := pass(engine)
		if err == nil {
			return crashes
		}
		require.ErrorIs(w.t, err, errCrash)
	}
}

func TestPruneAllCrashes(t *testing.T) {
	w := newWorld(t)
	crashes := w.crashEverywhere(func(e *builder.Engine) error {
		_, err := e.For(w.owner).PruneAll().ConfigMap(configMap("a")).Object(secret("s")).Reconcile(w.ctx)
		return err
	})
	assert.Positive(t, crashes)
	assert.Equal(t, "ConfigMap,Secret", w.recorded())

	// Between the deletion and the record, and elsewhere.
	w.crashEverywhere(func(e *builder.Engine) error {
		_, err := e.For(w.owner).PruneAll().Object(serviceAccount("sa")).Reconcile(w.ctx)
		return err
	})
	assert.False(t, w.exists(configMap("a")))
	assert.False(t, w.exists(secret("s")))
	assert.True(t, w.exists(serviceAccount("sa")))
	assert.Equal(t, "ServiceAccount", w.recorded())
}

// gadget is of a kind that comes and goes.
func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	preserve := true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gadgets.gone.armature.dev"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "gone.armature.dev", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gadgets", Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &preserve,
				}},
			}},
		},
	}
}

func gadget(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "gone.armature.dev", Version: "v1", Kind: "Gadget"})
	u.SetName(name)
	return u
}

func TestPruneAllOfACustomKind(t *testing.T) {
	w := newWorld(t)
	scheme := testScheme()
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	admin, err := client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	require.NoError(t, admin.Create(w.ctx, gadgetCRD()))
	t.Cleanup(func() { _ = admin.Delete(context.Background(), gadgetCRD()) })
	ready := func() bool { return w.live.List(w.ctx, listOf(gadget("")), client.InNamespace(w.ns)) == nil }
	w.eventually(ready, "the kind to be served")

	_, _, err = w.all(gadget("g"))
	require.NoError(t, err)
	assert.Equal(t, "Gadget.gone.armature.dev", w.recorded())
	res, _, err := w.all(configMap("a")) // the kind is unknown to this program
	require.NoError(t, err)
	assert.Len(t, res.Changes, 2)
	assert.False(t, w.exists(gadget("g")))
	assert.Equal(t, "ConfigMap", w.recorded())

	_, _, err = w.all(gadget("g"), configMap("a"))
	require.NoError(t, err)
	require.NoError(t, admin.Delete(w.ctx, gadgetCRD()))
	w.eventually(func() bool { return !ready() }, "the kind to be gone")
	_, _, err = w.all(configMap("a"))
	require.NoError(t, err, "a kind that is gone is no obstacle")
	assert.Equal(t, "ConfigMap", w.recorded())
}

func listOf(u *unstructured.Unstructured) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	gvk := u.GroupVersionKind()
	gvk.Kind += "List"
	list.SetGroupVersionKind(gvk)
	return list
}

func TestOperatorThatPrunesAll(t *testing.T) {
	all := func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		p := plan(owner, seen)
		p.Prune, p.PruneAll = nil, true
		if owner.Spec.Source != "" {
			p.Children = append(p.Children, builder.Want(serviceAccount(owner.Spec.Source)))
		}
		return p
	}
	owns := func(o *builder.Operator[*Widget]) { o.Owns(&corev1.ServiceAccount{}) }
	o := operateAs(t, owns, all, &Widget{Spec: WidgetSpec{Children: []string{"a"}, Source: "sa"}})
	o.eventually(func() bool { return o.exists(serviceAccount("sa")) && o.exists(configMap("a")) }, "the children")
	o.eventually(func() bool { return o.condition(events.ConditionReady) != nil }, "the status")
	assert.LessOrEqual(t, o.sent.count("PATCH", "/status"), 2, "the record is no conflict to the status: %v", o.writes())
	o.settled()
	n := o.count()
	o.edit(o.widget, func(w client.Object) { // our annotations are no reason to look again
		annotations := w.GetAnnotations()
		annotations[wellknown.AnnotationGroupKinds] += ",Secret"
		w.SetAnnotations(annotations)
	})
	assert.Equal(t, n, o.count())
	record := func() string { return o.get(o.widget).GetAnnotations()[wellknown.AnnotationGroupKinds] }
	o.poke()
	o.eventually(func() bool { return record() == "ConfigMap,ServiceAccount" }, "the next pass to mend them")
	o.settled()

	o.change(func(w *Widget) { w.Spec.Source, w.Spec.Children = "", nil })
	o.eventually(func() bool { return !o.exists(serviceAccount("sa")) && !o.exists(configMap("a")) }, "prune")
	o.eventually(func() bool { return record() == "" }, "the record")
	o.settled()
	assert.NotContains(t, strings.Join(o.sent.all(), " "), "serviceaccounts", "looked at once")
}
