package utils_test

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/armature-dev/armature/compat/utils"
)

func TestPredicates(t *testing.T) {
	var logged []string
	log := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	p := utils.NewCommonPredicates("Test", "example.com/ignore", log)
	object := func(namespace, ignore string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "cr", Annotations: map[string]string{"example.com/ignore": ignore},
		}}
	}

	require.True(t, p.IgnoreNamespacePredicate(object("default", "")))
	t.Setenv("DENY_LIST", "kube-system, default,")
	require.False(t, p.IgnoreNamespacePredicate(object("default", "")))
	require.False(t, p.IgnoreNamespacePredicate(object("kube-system", "")))
	require.True(t, p.IgnoreNamespacePredicate(object("other", "")))
	require.True(t, p.IgnoreNamespacePredicate(object("", "")), "cluster-scoped")

	require.False(t, p.IgnoreObjectPredicate(object("other", "true")))
	require.True(t, p.IgnoreObjectPredicate(object("other", "false")))
	require.Len(t, logged, 3)
	require.Contains(t, logged[0], "its namespace is in DENY_LIST")
}

func TestIgnoreUpdate(t *testing.T) {
	p := &utils.CommonPredicates{}
	of := func(generation int64) client.Object {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Generation: generation}}
	}
	require.True(t, p.IgnoreUpdate(event.UpdateEvent{ObjectOld: of(1), ObjectNew: of(2)}))
	require.False(t, p.IgnoreUpdate(event.UpdateEvent{ObjectOld: of(2), ObjectNew: of(2)}))
	require.True(t, p.IgnoreUpdate(event.UpdateEvent{ObjectOld: of(0), ObjectNew: of(0)}))
	require.False(t, p.IgnoreUpdate(event.UpdateEvent{ObjectNew: of(2)}))
	require.False(t, p.IgnoreUpdate(event.UpdateEvent{ObjectOld: of(2)}))
}

// The original ended the process over a bad value.
func TestLookupReconcileTime(t *testing.T) {
	require.Equal(t, 10*time.Second, utils.LookupReconcileTime(logr.Discard()))
	t.Setenv(utils.ReconcileWait, "1m30s")
	require.Equal(t, 90*time.Second, utils.LookupReconcileTime(logr.Discard()))
	t.Setenv(utils.ReconcileWait, "soon")
	require.Equal(t, 10*time.Second, utils.LookupReconcileTime(logr.Discard()))
}
