package payload

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"
)

// longWay is what a payload is by definition: what encoding/json writes, read again, without what was never set. It
// takes a walk over the Go value beside its JSON.
func longWay(t require.TestingT, obj client.Object) map[string]any {
	data, err := json.Marshal(obj)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, kjson.Unmarshal(data, &fields))
	dropUnset(reflect.ValueOf(obj), fields)
	dropNulls(fields)
	return fields
}

func dropUnset(v reflect.Value, out any) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			dropUnset(v.Elem(), out)
		}
	case reflect.Struct:
		if fields, ok := out.(map[string]any); ok {
			dropUnsetFields(v, fields)
		}
	case reflect.Slice, reflect.Array:
		if list, ok := out.([]any); ok && len(list) == v.Len() {
			for i := range list {
				dropUnset(v.Index(i), list[i])
			}
		}
	case reflect.Map:
		fields, ok := out.(map[string]any)
		if !ok || v.Type().Key().Kind() != reflect.String {
			return
		}
		for it := v.MapRange(); it.Next(); {
			if data, ok := reflect.TypeAssert[[]byte](it.Value()); ok && data == nil {
				fields[it.Key().String()] = ""
			}
			dropUnset(it.Value(), fields[it.Key().String()])
		}
	}
}

func dropUnsetFields(v reflect.Value, fields map[string]any) {
	for _, f := range fieldsOfType(v.Type()) {
		value, reached := follow(v, f.index)
		out, ok := fields[f.name]
		if !reached || !ok {
			continue
		}
		if !MarshalsItself(value.Type()) {
			dropUnset(value, out)
		}
		if !IsKubernetes(v.Type()) && f.name != "kind" && f.name != "apiVersion" {
			continue // a field of the custom resource's own
		}
		var unset bool
		switch sub, isMap := out.(map[string]any); value.Kind() {
		case reflect.Struct:
			unset = value.IsZero() && MarshalsItself(value.Type()) || isMap && len(sub) == 0 && value.Type() != labelSelectorType
			if z, ok := reflect.TypeAssert[interface{ IsZero() bool }](value.Addr()); ok {
				unset = unset || z.IsZero()
			}
		case reflect.Slice, reflect.Map:
			unset = value.Len() == 0
		default:
			unset = value.IsZero()
		}
		if unset {
			delete(fields, f.name)
		}
	}
}

func TestShortWayIsTheLongWay(t *testing.T) {
	kinds := []client.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &corev1.Service{}, &corev1.ConfigMap{}, &corev1.Secret{},
		&batchv1.Job{}, &batchv1.CronJob{}, &policyv1.PodDisruptionBudget{}, &networkingv1.NetworkPolicy{},
		&networkingv1.Ingress{}, &corev1.PersistentVolumeClaim{}, &rbacv1.ClusterRole{}, &custom{},
	}
	rapid.Check(t, func(t *rapid.T) {
		obj := rapid.SampledFrom(kinds).Draw(t, "kind").DeepCopyObject().(client.Object)
		randfill.NewWithSeed(rapid.Int64().Draw(t, "seed")).NilChance(rapid.SampledFrom([]float64{0.3, 0.6, 0.9}).Draw(t, "nil")).
			NumElements(0, 3).MaxDepth(12).
			Funcs(func(*metav1.FieldsV1, randfill.Continue) {}). // random bytes are none
			Fill(obj)
		got, err := fieldsOf(obj)
		require.NoError(t, err)
		assert.Equal(t, longWay(t, obj), got)
	})
}
