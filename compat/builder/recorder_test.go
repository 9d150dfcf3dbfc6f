package builder_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/compat/builder"
)

// The original gave the message where the reason belongs, and the reason where the message does.
func TestEventsHaveReasonAndMessage(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	fake, recorder := newRecorder()
	data := map[string]string{"a": "1"}
	b := newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder),
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", data)}))
	reconcile := func() {
		_, err := b.ReconcileConfigMap()
		require.NoError(t, err)
		require.NoError(t, b.ReconcileStore())
	}
	reconcile()
	require.Equal(t, []string{"Normal TestCreateObjectSuccess Created ConfigMap default/config"}, events(fake))
	reconcile()
	require.Empty(t, events(fake))
	data["a"] = "2"
	reconcile()
	require.Equal(t, []string{"Normal TestUpdateObjectSuccess Updated ConfigMap default/config"}, events(fake))
	b = newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder), builder.ToNewBuilderConfigMap(nil))
	reconcile()
	require.Equal(t, []string{"Normal TestDeleteObjectSuccess Deleted ConfigMap default/config"}, events(fake))
}

func TestAFailureIsToldOnce(t *testing.T) {
	s, cr := newServer(t), newCR("cr-of-failures")
	fake, recorder := newRecorder()
	b := newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder),
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", nil)}))
	told := []string{`Warning TestCreateObjectFail create ConfigMap default/config: things "x" is forbidden: exceeded quota`}

	s.refuse(errQuota, "")
	for pass := range 3 {
		_, err := b.ReconcileConfigMap()
		require.Error(t, err)
		if pass == 0 {
			require.Equal(t, told, events(fake))
		}
		require.Empty(t, events(fake))
	}
	s.Heal()
	_, err := b.ReconcileConfigMap()
	require.NoError(t, err)
	require.Len(t, events(fake), 1)

	require.NoError(t, s.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: b.ConfigMaps[0].ObjectMeta}))
	s.refuse(errQuota, "")
	_, err = b.ReconcileConfigMap()
	require.Error(t, err)
	require.Equal(t, told, events(fake), "it had been over")
}

func TestAConflictIsNoNews(t *testing.T) {
	s, cr := newServer(t), newCR("cr-of-conflicts")
	fake, recorder := newRecorder()
	s.refuse(apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "config", nil), "")
	_, err := newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder),
		builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{configMap(s, cr, "config", nil)})).ReconcileConfigMap()
	require.True(t, apierrors.IsConflict(err))
	require.Empty(t, events(fake))
}

func TestReasonsOfFailures(t *testing.T) {
	s, cr := newServer(t), newCR("cr-of-reasons")
	fake, recorder := newRecorder()
	var told []string
	for _, names := range [][]string{{"config"}, {"config", ""}} {
		var configs []builder.BuilderConfigMap
		for _, name := range names {
			configs = append(configs, configMap(s, cr, name, nil))
		}
		_, err := newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder), builder.ToNewBuilderConfigMap(configs)).ReconcileConfigMap()
		require.Equal(t, len(names) > 1, err != nil)
		told = append(told, events(fake)...)
	}
	require.Len(t, told, 2)
	require.Contains(t, told[0], "Normal TestCreateObjectSuccess")
	require.Contains(t, told[1], "Warning TestReconcileFail builder misused: metadata.name")

	b := newBuilder(s, cr, builder.ToNewBuilderRecorder(recorder), builder.ToNewBuilderConfigMap(nil))
	s.refuse(errQuota, "")
	require.Error(t, b.ReconcileStore())
	require.Contains(t, events(fake)[0], "Warning TestDeleteObjectFail delete ConfigMap default/config")
}

func TestGenericEvent(t *testing.T) {
	fake, recorder := newRecorder()
	recorder.GenericEvent(newCR("cr"), corev1.EventTypeWarning, "Reason", "message 100%")
	require.Equal(t, []string{"Warning Reason message 100%"}, events(fake))
	recorder.GenericEvent(nil, corev1.EventTypeWarning, "Reason", "about nothing")
	require.Empty(t, events(fake))
	(&builder.BuilderRecorder{}).GenericEvent(newCR("cr"), corev1.EventTypeNormal, "Reason", "to no one")
	(*builder.BuilderRecorder)(nil).GenericEvent(newCR("cr"), corev1.EventTypeNormal, "Reason", "to no one")
}
