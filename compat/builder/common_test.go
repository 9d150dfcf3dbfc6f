package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	armature "github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/compat/builder"
)

func TestCommonBuilder(t *testing.T) {
	s, cr, ctx := newServer(t), newCR("cr"), t.Context()
	fake, recorder := newRecorder()
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}, Data: map[string]string{"a": "1"}}
	b := common(s, cr, "config")
	b.DesiredState, b.CurrentState, b.ObjectList = wanted, &corev1.ConfigMap{}, &corev1.ConfigMapList{}
	expect := func(want controllerutil.OperationResult) func(controllerutil.OperationResult, error) {
		return func(got controllerutil.OperationResult, err error) {
			t.Helper()
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}

	_, err := b.Get(ctx, recorder)
	require.True(t, apierrors.IsNotFound(err))
	_, err = b.Update(ctx, recorder)
	require.True(t, apierrors.IsNotFound(err))
	expect(controllerutil.OperationResultCreated)(b.Create(ctx, recorder))
	_, err = b.Create(ctx, recorder)
	require.True(t, apierrors.IsAlreadyExists(err))
	expect(controllerutil.OperationResultNone)(b.CreateOrUpdate(ctx, recorder))
	wanted.Data["a"] = "2"
	expect(controllerutil.OperationResultUpdated)(b.Update(ctx, recorder))
	wanted.Data["a"] = "3"
	expect(controllerutil.OperationResultUpdated)(b.CreateOrUpdate(ctx, recorder))
	require.Equal(t, "2", b.CurrentState.(*corev1.ConfigMap).Data["a"], "as it was before")

	got, err := b.Get(ctx, recorder)
	require.NoError(t, err)
	require.Equal(t, "3", got.(*corev1.ConfigMap).Data["a"])
	require.True(t, metav1.IsControlledBy(got, cr))
	list, err := b.List(ctx, recorder)
	require.NoError(t, err)
	require.Len(t, list.(*corev1.ConfigMapList).Items, 1)
	b.Labels = map[string]string{"no": "such"}
	list, err = b.List(ctx, recorder)
	require.NoError(t, err)
	require.Empty(t, list.(*corev1.ConfigMapList).Items)

	expect(controllerutil.OperationResultUpdated)(b.Delete(ctx, recorder))
	expect(controllerutil.OperationResultNone)(b.Delete(ctx, recorder))
	require.Equal(t, []string{
		"Warning TestUpdateObjectFail", "Normal TestCreateObjectSuccess", "Warning TestCreateObjectFail",
		"Normal TestUpdateObjectSuccess", "Normal TestUpdateObjectSuccess", "Normal TestDeleteObjectSuccess",
	}, reasons(events(fake)))
	require.Empty(t, wanted.ResourceVersion, "what is desired is not written to")
}

func TestDeleteLeavesObjectsOfOthersAlone(t *testing.T) {
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "config"}}
	s, cr := newServer(t, foreign), newCR("cr")
	b := common(s, cr, "config")
	b.DesiredState = foreign.DeepCopy()
	_, err := b.Delete(t.Context(), builder.BuilderRecorder{})
	require.ErrorIs(t, err, armature.ErrNotOwned)
	require.True(t, s.has(&corev1.ConfigMap{}, "config"))
}

// The owner is whom OwnerRef names, with or without CrObject; OwnerRef alone need not be filled in.
func TestOwners(t *testing.T) {
	cr, other := newCR("cr"), newCR("other")
	for name, change := range map[string]func(*builder.CommonBuilder){
		"both":                 func(*builder.CommonBuilder) {},
		"only CrObject":        func(b *builder.CommonBuilder) { b.OwnerRef = metav1.OwnerReference{} },
		"only OwnerRef":        func(b *builder.CommonBuilder) { b.CrObject = nil },
		"nil CrObject":         func(b *builder.CommonBuilder) { b.CrObject = (*corev1.ConfigMap)(nil) },
		"another CrObject":     func(b *builder.CommonBuilder) { b.CrObject = other },
		"neither, but store's": func(b *builder.CommonBuilder) { b.CrObject, b.OwnerRef, b.Client = nil, metav1.OwnerReference{}, nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			item := configMap(s, cr, "config", nil)
			change(&item.CommonBuilder)
			_, err := newBuilder(s, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{item})).ReconcileConfigMap()
			require.NoError(t, err)
			cm := &corev1.ConfigMap{}
			require.True(t, s.has(cm, "config"))
			require.Len(t, cm.OwnerReferences, 1)
			ref := metav1.GetControllerOf(cm)
			require.Equal(t, []any{cr.UID, "cr", "ConfigMap", "v1"}, []any{ref.UID, ref.Name, ref.Kind, ref.APIVersion})
		})
	}
}

// The original panicked without one of them.
func TestNothingPanics(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	item := configMap(s, cr, "config", nil)

	bare := builder.NewBuilder(nil, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{item}))
	_, err := bare.ReconcileConfigMap()
	require.NoError(t, err)
	require.True(t, bare.Exists("config"))
	require.NoError(t, bare.ReconcileStore())

	literal := &builder.Builder{ConfigMaps: []builder.BuilderConfigMap{item}}
	literal.Put("x", "ConfigMap")
	_, err = literal.ReconcileConfigMap()
	require.NoError(t, err)
	literal.Store = builder.InternalStore{CommonBuilder: builder.CommonBuilder{Client: s, CrObject: cr}}
	require.NoError(t, literal.ReconcileStore())
	require.True(t, s.has(&corev1.ConfigMap{}, "config"))

	none := builder.NewBuilder(builder.ToNewBuilderContext(builder.BuilderContext{}))
	for _, reconcile := range []func() (controllerutil.OperationResult, error){
		none.ReconcileConfigMap, none.ReconcileService, none.ReconcileStorage, none.ReconcileNetworkPolicy, none.ReconcileDeployOrSts,
	} {
		result, err := reconcile()
		require.NoError(t, err)
		require.Equal(t, controllerutil.OperationResultNone, result)
	}

	for name, test := range map[string]struct {
		builder *builder.Builder
		want    string
	}{
		"no client":        {&builder.Builder{ConfigMaps: []builder.BuilderConfigMap{{}}}, "Client is nil"},
		"no owner":         {&builder.Builder{ConfigMaps: []builder.BuilderConfigMap{{CommonBuilder: builder.CommonBuilder{Client: s}}}}, "no owner"},
		"no PodSpec":       {&builder.Builder{DeploymentOrStatefulset: []builder.BuilderDeploymentStatefulSet{{Kind: "Deployment"}}}, "has no PodSpec"},
		"no PvcSpec":       {&builder.Builder{StorageConfig: []builder.BuilderStorageConfig{{}}}, "has no PvcSpec"},
		"store, no owner":  {builder.NewBuilder(builder.ToNewBuilderStore(*builder.NewStore(s, nil, "default", nil))), "no owner"},
		"store, no client": {builder.NewBuilder(builder.ToNewBuilderStore(*builder.NewStore(nil, nil, "default", cr))), "client is nil"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err1 := test.builder.ReconcileConfigMap()
			_, err2 := test.builder.ReconcileDeployOrSts()
			_, err3 := test.builder.ReconcileStorage()
			err := firstOf(err1, err2, err3, test.builder.ReconcileStore())
			require.ErrorContains(t, err, test.want)
		})
	}

	var empty builder.CommonBuilder
	ctx := context.Context(nil)
	for _, write := range []func(context.Context, builder.BuilderRecorder) (controllerutil.OperationResult, error){
		empty.Create, empty.Update, empty.CreateOrUpdate, empty.Delete,
	} {
		_, err := write(ctx, builder.BuilderRecorder{})
		require.Error(t, err)
		empty.Client, empty.CrObject = s, cr // now it has no DesiredState
		_, err = write(ctx, builder.BuilderRecorder{})
		require.ErrorIs(t, err, armature.ErrMisuse)
		empty.Client, empty.CrObject = nil, nil
	}
	_, err = empty.Get(ctx, builder.BuilderRecorder{})
	require.Error(t, err)
	_, err = empty.List(ctx, builder.BuilderRecorder{})
	require.Error(t, err)
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// uncomparable is a client that can't be a map's key.
type uncomparable struct {
	client.Client
	_ []string
}

func TestUncomparableClient(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	c := uncomparable{Client: s}
	_, err := newBuilder(c, cr, builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(c, cr, "config", nil)})).ReconcileConfigMap()
	require.NoError(t, err)
}
