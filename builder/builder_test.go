package builder

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func owner() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner-uid"}}
}

func config(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "1"}}
}

// engineWith returns an engine on a fake client. Of the fake, the tests here use no more than it can do: it knows no
// UIDs, no defaults and no garbage collection.
func engineWith(funcs interceptor.Funcs, objs ...client.Object) *Engine {
	return NewEngine(fake.NewClientBuilder().WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)).WithObjects(objs...).WithInterceptorFuncs(funcs).Build(), Options{})
}

func TestMisuseIsReported(t *testing.T) {
	named := func(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
		c := config("c")
		change(c)
		return c
	}
	cases := map[string]struct {
		build func(e *Engine) *Builder
		says  string
	}{
		"nil owner":       {func(e *Engine) *Builder { return e.For(nil) }, "owner is nil"},
		"typed nil owner": {func(e *Engine) *Builder { return e.For((*corev1.ConfigMap)(nil)) }, "owner is nil"},
		"owner not read":  {func(e *Engine) *Builder { return e.For(config("owner")) }, "has no UID"},
		"owner unknown":   {func(e *Engine) *Builder { return e.For(&thing{}) }, "no kind"},
		"nil":             {func(e *Engine) *Builder { return e.For(owner()).Object(nil) }, "nil"},
		"typed nil":       {func(e *Engine) *Builder { return e.For(owner()).ConfigMap(nil) }, "nil (*v1.ConfigMap)"},
		"unknown kind":    {func(e *Engine) *Builder { return e.For(owner()).Object(&thing{}) }, "no kind"},
		"no kind":         {func(e *Engine) *Builder { return e.For(owner()).Object(&unstructured.Unstructured{}) }, "no kind"},
		"no name":         {func(e *Engine) *Builder { return e.For(owner()).ConfigMap(config("")) }, "metadata.name of a ConfigMap is empty"},
		"twice":           {func(e *Engine) *Builder { return e.For(owner()).ConfigMap(config("c")).ConfigMap(config("c")) }, "desired twice"},
		"elsewhere": {func(e *Engine) *Builder {
			return e.For(owner()).ConfigMap(named(func(c *corev1.ConfigMap) { c.Namespace = "other" }))
		}, "must be that of its owner"},
		"cluster-scoped": {func(e *Engine) *Builder {
			return e.For(owner()).Object(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
		}, "cluster-scoped"},
		"another controller": {func(e *Engine) *Builder {
			return e.For(owner()).ConfigMap(named(func(c *corev1.ConfigMap) {
				c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x", Controller: new(true)}}
			}))
		}, "has a controller, X x"},
		"nil to prune": {func(e *Engine) *Builder { return e.For(owner()).Prune(nil) }, "nil"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := engineWith(interceptor.Funcs{})
			res, err := c.build(e).ConfigMap(config("good")).Reconcile(t.Context())
			require.ErrorIs(t, err, ErrMisuse)
			assert.ErrorContains(t, err, c.says)
			assert.True(t, IsTerminal(err))
			if name != "nil to prune" {
				assert.Empty(t, res.Changes, "no child is applied")
			}
		})
	}
}

func TestGivenObjectsStayAsTheyAre(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	wanted, o := deployment("web"), owner()
	before, ownerBefore := wanted.DeepCopy(), o.DeepCopy()
	_, err := e.For(o).Deployment(wanted).Reconcile(t.Context())
	require.NoError(t, err)
	assert.Equal(t, wanted, before)
	assert.Equal(t, o, ownerBefore)
}

func TestErrorsOfOneChildDoNotStopTheOthers(t *testing.T) {
	e := engineWith(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		if obj.GetName() == "c3" {
			return invalid
		}
		return c.Create(ctx, obj, opts...)
	}})
	b := e.For(owner())
	for i := range 10 {
		b.ConfigMap(config(fmt.Sprint("c", i)))
	}
	res, err := b.Reconcile(t.Context())
	assert.Len(t, res.Changes, 9)
	var about *Error
	require.ErrorAs(t, err, &about)
	assert.Equal(t, "c3", about.Key.Name)
	assert.Equal(t, "create", about.Operation)
	assert.True(t, IsTerminal(err))
}

func TestReadErrorsAreReported(t *testing.T) {
	broken := errors.New("no connection")
	e := engineWith(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return broken
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return broken
		},
	})
	_, err := e.For(owner()).ConfigMap(config("c")).Reconcile(t.Context())
	assert.ErrorIs(t, err, broken)
	assert.ErrorContains(t, err, "read ConfigMap default/c")
	_, err = e.For(owner()).Prune(&corev1.ConfigMap{}).Reconcile(t.Context())
	assert.ErrorIs(t, err, broken)
	assert.False(t, IsTerminal(err))
}

func TestCRUD(t *testing.T) {
	theirs := config("theirs")
	theirs.Namespace = "default"
	e := engineWith(interceptor.Funcs{}, theirs)
	b := func() *Builder { return e.For(owner()) }
	ctx := t.Context()

	_, err := b().Update(ctx, config("c"))
	assert.True(t, apierrors.IsNotFound(errors.Unwrap(err)), "%v", err)
	res, err := b().Create(ctx, config("c"))
	require.NoError(t, err)
	assert.NotEmpty(t, res.Changes)
	_, err = b().Create(ctx, config("c"))
	assert.True(t, apierrors.IsAlreadyExists(err), "%v", err)
	res, err = b().Object(config("c")).Reconcile(ctx)
	require.NoError(t, err)
	assert.Equal(t, 1, res.Unchanged)

	got := &corev1.ConfigMap{}
	require.NoError(t, b().Get(ctx, "c", got))
	assert.Equal(t, "1", got.Data["a"])
	assert.ErrorIs(t, b().Get(ctx, "theirs", &corev1.ConfigMap{}), ErrNotOwned)
	assert.True(t, apierrors.IsNotFound(b().Get(ctx, "none", &corev1.ConfigMap{})))
	assert.ErrorIs(t, b().Get(ctx, "c", nil), ErrMisuse)
	list := &corev1.ConfigMapList{}
	require.NoError(t, b().List(ctx, list))
	require.Len(t, list.Items, 1)
	assert.Equal(t, "c", list.Items[0].Name)

	_, err = b().Update(ctx, config("theirs"))
	assert.ErrorIs(t, err, ErrNotOwned)
	_, err = b().Delete(ctx, config("theirs"))
	assert.ErrorIs(t, err, ErrNotOwned)
	_, err = b().Delete(ctx, nil)
	assert.ErrorIs(t, err, ErrMisuse)
	res, err = b().Delete(ctx, config("none"))
	require.NoError(t, err)
	assert.Empty(t, res.Changes)
}

func TestParallelismHasASaneBound(t *testing.T) {
	for _, n := range []int{0, -1} {
		assert.Equal(t, maxRequests, newEngine(nil, Options{}, nil, n).parallelism)
	}
	assert.Equal(t, 3, newEngine(nil, Options{}, nil, 3).parallelism)
}
