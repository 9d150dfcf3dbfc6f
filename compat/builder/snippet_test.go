package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/compat/builder"
	"github.com/armature-dev/armature/compat/reconciler"
)

// reconciler of an operator as the README of the original shows one.
type tenantReconciler struct {
	client       client.Client
	commonLabels map[string]string
	Recorder     record.EventRecorder
}

func (r *tenantReconciler) do(
	ctx context.Context,
	cr *corev1.ConfigMap,
	configMap []builder.BuilderConfigMap,
	configMapHash []builder.BuilderConfigMapHash,
	deploymentOrStatefulset []builder.BuilderDeploymentStatefulSet,
	storage []builder.BuilderStorageConfig,
	service []builder.BuilderService,
) error {
	// construct builder
	builder := builder.NewBuilder(
		builder.ToNewBuilderConfigMap(configMap),
		builder.ToNewBuilderConfigMapHash(configMapHash),
		builder.ToNewBuilderDeploymentStatefulSet(deploymentOrStatefulset),
		builder.ToNewBuilderStorageConfig(storage),
		builder.ToNewBuilderRecorder(builder.BuilderRecorder{Recorder: r.Recorder, ControllerName: "ParseableOperator"}),
		builder.ToNewBuilderContext(builder.BuilderContext{Context: ctx}),
		builder.ToNewBuilderService(service),
		builder.ToNewBuilderStore(*builder.NewStore(r.client, r.commonLabels, cr.Namespace, cr)),
	)

	// reconcile configmap
	_, err := builder.ReconcileConfigMap()
	if err != nil {
		return err
	}
	if _, err := builder.ReconcileDeployOrSts(); err != nil {
		return err
	}
	if err := builder.ReconcileStore(); err != nil {
		return err
	}
	return nil
}

// The store's fields are those that the README shows.
var _ = builder.InternalStore{ObjectNameKind: map[string]string{}, CommonBuilder: builder.CommonBuilder{}}

var _ reconciler.ReconcileInterface = &builder.Builder{}

func TestSnippetOfTheREADME(t *testing.T) {
	s, cr := newServer(t), newCR("tenant")
	recorder, _ := newRecorder()
	r := &tenantReconciler{client: s, commonLabels: map[string]string{"app": "parseable"}, Recorder: recorder}
	cm := configMap(s, cr, "config", map[string]string{"a": "b"})
	hashes := []builder.BuilderConfigMapHash{{Object: &corev1.ConfigMap{Data: cm.Data, ObjectMeta: cm.ObjectMeta}}}
	require.NoError(t, r.do(t.Context(), cr, []builder.BuilderConfigMap{cm}, hashes,
		[]builder.BuilderDeploymentStatefulSet{workload(s, cr, "Deployment", "web")}, nil, nil))
	require.True(t, s.has(&corev1.ConfigMap{}, "config"))
	require.Contains(t, events(recorder), "Normal ParseableOperatorCreateObjectSuccess Created ConfigMap default/config")
}
