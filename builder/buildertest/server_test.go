package buildertest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func TestSeedsAreTakenAsTheyAre(t *testing.T) {
	seed := deployment("web", "i")
	seed.UID, seed.Status.ReadyReplicas, seed.Generation = "own", 3, 5
	s := newServer(seed)
	assert.Empty(t, s.Ledger().Calls(), "it is no call")
	got := deployment("web", "")
	require.NoError(t, s.Client().Get(t.Context(), client.ObjectKeyFromObject(got), got))
	assert.Equal(t, types.UID("own"), got.UID)
	assert.Equal(t, int32(3), got.Status.ReadyReplicas)
	assert.Equal(t, int64(5), got.Generation)
	assert.Equal(t, int32(1), *got.Spec.Replicas, "defaults are filled in")
	require.True(t, apierrors.IsAlreadyExists(s.Add(seed)))
	require.ErrorContains(t, s.Add(configMap("")), "no name")
}

func TestNewServerPanicsOnWrongOptions(t *testing.T) {
	assert.Panics(t, func() { newServer(configMap("")) })
	assert.Panics(t, func() { buildertest.NewServer(scheme.Scheme, buildertest.WithCRDs("nowhere")) })
	assert.Panics(t, func() { buildertest.NewServer(scheme.Scheme, buildertest.WithCRDs(".")) })
}

func TestLedger(t *testing.T) {
	s := newServer()
	c, other := s.Client("mine"), s.Client("other")
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	require.Error(t, c.Create(t.Context(), configMap("a")))
	require.NoError(t, other.Delete(t.Context(), configMap("a")))
	require.NoError(t, other.Create(t.Context(), configMap("b"), client.DryRunAll))
	assert.False(t, exists(t, c, configMap("a")))

	assert.Equal(t, 3, s.Ledger().Count(buildertest.VerbCreate, configMapKind))
	assert.Len(t, s.Ledger().Writes(), 4)
	assert.Equal(t, 2, c.Ledger().Count(buildertest.VerbCreate, configMapKind))
	assert.Equal(t, "create ConfigMap default/a\n"+
		"create ConfigMap default/a: configmaps \"a\" already exists\n"+
		"get ConfigMap default/a: configmaps \"a\" not found", c.Ledger().String())
	assert.Equal(t, "create ConfigMap default/b (dry run)", other.Ledger().Calls()[1].String())
	first := c.Ledger().Calls()[0]
	assert.True(t, first.Created && first.Changed && first.UID != "")
	s.Ledger().Reset()
	assert.Empty(t, s.Ledger().Calls())
	assert.NotEmpty(t, c.Ledger().Calls(), "each client has its own")
}

func TestLedgerTellsNoOps(t *testing.T) {
	s := newServer(configMap("a"))
	c := s.Client()
	obj := configMap("a")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
	s.Ledger().Reset()
	require.NoError(t, c.Update(t.Context(), obj, client.FieldOwner("x")))
	obj.Data["a"] = "2"
	require.NoError(t, c.Update(t.Context(), obj, client.FieldOwner("x")))
	writes := s.Ledger().Writes()
	assert.False(t, writes[0].Changed)
	assert.True(t, writes[1].Changed)
}

func TestIndexes(t *testing.T) {
	s := newServer(owned(configMap("a"), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "o", UID: "1"}}), configMap("b"))
	byOwner := func(o client.Object) []string {
		if ref := metav1.GetControllerOfNoCopy(o); ref != nil {
			return []string{string(ref.UID)}
		}
		return nil
	}
	c := s.Client()
	var list corev1.ConfigMapList
	require.ErrorContains(t, c.List(t.Context(), &list, client.MatchingFields{"owner": "1"}), "IndexField")
	require.NoError(t, c.IndexField(t.Context(), &corev1.ConfigMap{}, "owner", byOwner))
	require.ErrorContains(t, c.IndexField(t.Context(), &corev1.ConfigMap{}, "owner", byOwner), "conflict")
	require.NoError(t, c.List(t.Context(), &list, client.MatchingFields{"owner": "1"}, client.UnsafeDisableDeepCopy))
	require.Len(t, list.Items, 1)
	list.Items[0].Data["a"] = "changed"
	assert.NotContains(t, names(t, c), "changed", "what is returned is always a copy")
	require.NoError(t, s.IndexField(t.Context(), &corev1.ConfigMap{}, "owner", byOwner))
	require.NoError(t, s.Client().List(t.Context(), &list, client.MatchingFields{"owner": "1"}), "an index of the server is for all")
	assert.Len(t, list.Items, 1)
}

func TestGarbageOnDemand(t *testing.T) {
	owner := configMap("owner")
	owner.UID = "1"
	s := buildertest.NewServer(scheme.Scheme, buildertest.WithManualGarbageCollection(),
		buildertest.WithObjects(owner, owned(configMap("child"), owner)))
	require.NoError(t, s.Client().Delete(t.Context(), owner))
	assert.True(t, exists(t, s.Client(), configMap("child")))
	s.CollectGarbage()
	assert.Empty(t, s.Objects())
	deletes := s.Ledger().Where(func(c buildertest.Call) bool { return c.Client == buildertest.GarbageCollector })
	assert.Len(t, deletes, 1)
}

func TestGarbageLeavesWhatItCannotJudge(t *testing.T) {
	gone := configMap("gone")
	gone.UID = "1"
	cluster := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cluster-scoped"}}
	unknown := configMap("unknown")
	unknown.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Unknown", Name: "x", UID: "2"}}
	s := newServer(owned(cluster, gone), unknown)
	s.CollectGarbage()
	assert.Len(t, s.Objects(), 2)
}

func inTeam(name string) *corev1.ConfigMap {
	obj := configMap(name)
	obj.Namespace = "team"
	return obj
}

func TestNamespaceTakesItsContentAlong(t *testing.T) {
	held := inTeam("held")
	held.Finalizers = []string{"example.com/hold"}
	s := newServer(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, inTeam("a"), held)
	c := s.Client()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	require.NoError(t, c.Delete(t.Context(), ns))
	assert.False(t, exists(t, c, inTeam("a")))
	err := c.Create(t.Context(), inTeam("b"))
	assert.True(t, apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause), err)
	require.NoError(t, c.Patch(t.Context(), held, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))))
	assert.Empty(t, s.Objects())
}

// A namespace that never had an object exists, for tests without namespaces. One that was deleted doesn't.
func TestADeletedNamespaceIsMissing(t *testing.T) {
	s := newServer()
	c := s.Client()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}
	require.NoError(t, c.Create(t.Context(), inTeam("before")))
	require.NoError(t, c.Create(t.Context(), ns))
	require.NoError(t, c.Delete(t.Context(), ns))
	assert.Empty(t, s.Objects())
	err := c.Create(t.Context(), inTeam("b"))
	assert.True(t, apierrors.IsNotFound(err), err)
	require.EqualError(t, err, `namespaces "team" not found`)
	require.NoError(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))
	require.NoError(t, c.Create(t.Context(), inTeam("b")))
}

func TestTheNamespacesOfTheClusterStay(t *testing.T) {
	c := newServer(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}).Client()
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		err := c.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		assert.True(t, apierrors.IsForbidden(err), err)
		assert.EqualError(t, err, `namespaces "`+name+`" is forbidden: this namespace may not be deleted`)
	}
}

// The answers are those of Kubernetes 1.37.
func TestTooLargeObjectsAreRefused(t *testing.T) {
	c := newServer().Client()
	text := strings.Repeat("x", 1<<20+1)
	m, secret, d := configMap("a"), &corev1.Secret{ObjectMeta: configMap("a").ObjectMeta}, deployment("a", "i")
	m.Data["a"] = text
	require.EqualError(t, c.Create(t.Context(), m), `ConfigMap "a" is invalid: []: Too long: may not be more than 1048576 bytes`)
	secret.Data = map[string][]byte{"a": []byte(text)}
	require.EqualError(t, c.Create(t.Context(), secret), `Secret "a" is invalid: data: Too long: may not be more than 1048576 bytes`)
	d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: strings.Repeat("x", 1600000)}}
	require.NoError(t, c.Create(t.Context(), d.DeepCopy(), client.DryRunAll))
	err := c.Create(t.Context(), d)
	require.EqualError(t, err, "etcdserver: request is too large")
	assert.Equal(t, metav1.StatusReasonUnknown, apierrors.ReasonForError(err))
	require.NoError(t, c.Create(t.Context(), configMap("b")))
	m.Name = "b"
	require.True(t, apierrors.IsInvalid(c.Update(t.Context(), m)))
}

func TestPodsAreLeftTimeToEnd(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"}, Spec: corev1.PodSpec{
		NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}},
	}}
	s := newServer(pod)
	c := s.Client()
	require.NoError(t, c.Delete(t.Context(), pod))
	got := &corev1.Pod{}
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(pod), got))
	assert.Equal(t, buildertest.Epoch.Add(30*time.Second), got.DeletionTimestamp.UTC())
	assert.Equal(t, ptr.To[int64](30), got.DeletionGracePeriodSeconds)
	require.NoError(t, c.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	assert.Empty(t, s.Objects())
}

func TestForms(t *testing.T) {
	s := newServer(configMap("a"))
	c := s.Client()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	require.NoError(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, u))
	assert.Equal(t, map[string]any{"a": "1"}, u.Object["data"])
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMapList"))
	require.NoError(t, c.List(t.Context(), partial))
	require.Len(t, partial.Items, 1)
	assert.Equal(t, "ConfigMap", partial.Items[0].Kind)

	u.SetKind("Unknown")
	require.True(t, meta.IsNoMatchError(c.Get(t.Context(), client.ObjectKeyFromObject(u), u)))
	mapping, err := c.RESTMapper().RESTMapping(configMapKind)
	require.NoError(t, err)
	assert.Equal(t, "configmaps", mapping.Resource.Resource)
	namespaced, err := c.IsObjectNamespaced(&corev1.Namespace{})
	require.NoError(t, err)
	assert.False(t, namespaced)
}

func TestCallsThatNoServerWouldSee(t *testing.T) {
	c := newServer().Client()
	for name, err := range map[string]error{
		"no name":      c.Delete(t.Context(), configMap("")),
		"no namespace": c.Get(t.Context(), client.ObjectKey{Name: "a"}, configMap("")),
		"eviction":     c.SubResource("eviction").Create(t.Context(), configMap("a"), configMap("a")),
	} {
		assert.Error(t, err, name)
	}
}

func TestWatchFromAVersion(t *testing.T) {
	s := newServer(configMap("old"))
	c := s.Client()
	var list corev1.ConfigMapList
	require.NoError(t, c.List(t.Context(), &list))
	require.NoError(t, c.Create(t.Context(), configMap("new")))
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
	require.NoError(t, err)
	assert.Equal(t, "new", (<-w.ResultChan()).Object.(*corev1.ConfigMap).Name)
	w.Stop()
	_, open := <-w.ResultChan()
	assert.False(t, open)
	_, err = c.Watch(t.Context(), &corev1.ConfigMapList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "x"}})
	require.True(t, apierrors.IsBadRequest(err))
}

func TestWatchSelectsByField(t *testing.T) {
	s := newServer(configMap("old"), configMap("other"))
	c := s.Client()
	require.NoError(t, c.IndexField(t.Context(), &corev1.ConfigMap{}, "data.a", func(o client.Object) []string {
		return []string{o.(*corev1.ConfigMap).Data["a"]}
	}))
	watch := func(field, value string) func() string {
		w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default"), client.MatchingFields{field: value})
		require.NoError(t, err)
		t.Cleanup(w.Stop)
		return func() string {
			e := <-w.ResultChan()
			return string(e.Type) + " " + e.Object.(*corev1.ConfigMap).Name
		}
	}
	named, indexed := watch("metadata.name", "x"), watch("data.a", "2")
	require.NoError(t, c.Create(t.Context(), configMap("y")))
	x := configMap("x")
	require.NoError(t, c.Create(t.Context(), x))
	for _, value := range []string{"2", "3"} {
		x.Data["a"] = value
		require.NoError(t, c.Update(t.Context(), x))
	}
	assert.Equal(t, []string{"ADDED x", "MODIFIED x", "MODIFIED x"}, []string{named(), named(), named()})
	assert.Equal(t, []string{"ADDED x", "DELETED x"}, []string{indexed(), indexed()})
	_, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.MatchingFields{"data.b": "1"})
	assert.ErrorContains(t, err, `ConfigMap has no index "data.b"`)
}

func TestWatchDropsEvents(t *testing.T) {
	s := newServer()
	c := s.Client()
	c.DropEvents(func(e buildertest.Event) bool { return e.Object.GetName() == "lost" })
	w, err := c.Watch(t.Context(), &corev1.ConfigMapList{}, client.InNamespace("default"))
	require.NoError(t, err)
	defer w.Stop()
	require.NoError(t, c.Create(t.Context(), configMap("lost")))
	require.NoError(t, c.Create(t.Context(), configMap("seen")))
	assert.Equal(t, "seen", (<-w.ResultChan()).Object.(*corev1.ConfigMap).Name)
}
