package subset

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/randfill"
)

// anyObject draws an object of a few kinds with random fields.
func anyObject(t *rapid.T) runtime.Object {
	obj := rapid.SampledFrom([]runtime.Object{
		&appsv1.Deployment{}, &appsv1.StatefulSet{}, &batchv1.CronJob{}, &corev1.Service{}, &corev1.Secret{},
	}).Draw(t, "kind").DeepCopyObject()
	filler(t, rapid.Float64Range(0.2, 0.9).Draw(t, "empty")).Fill(obj)
	return obj
}

func filler(t *rapid.T, empty float64) *randfill.Filler {
	return randfill.NewWithSeed(rapid.Int64().Draw(t, "seed")).NilChance(empty).NumElements(1, 2).MaxDepth(10).
		Funcs(func(*metav1.FieldsV1, randfill.Continue) {}) // random bytes are none
}

func TestObjectContainsItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obj := anyObject(t)
		assert.True(t, Typed(obj, obj.DeepCopyObject()))
	})
}

func TestNothingIsContainedInEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		obj := anyObject(t)
		empty := reflect.New(reflect.TypeOf(obj).Elem()).Interface()
		assert.True(t, Typed(empty, obj))
	})
}

func TestChangedScalarIsSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted := &appsv1.Deployment{}
		filler(t, 0.5).Fill(wanted)
		found := wanted.DeepCopy()
		places := scalars(reflect.ValueOf(found).Elem(), nil)
		if len(places) == 0 {
			t.Skip("nothing set")
		}
		place := places[rapid.IntRange(0, len(places)-1).Draw(t, "place")]
		switch place.Kind() {
		case reflect.String:
			place.SetString(place.String() + "x")
		case reflect.Bool:
			place.SetBool(false)
		default:
			place.SetInt(place.Int() ^ 1)
		}
		assert.False(t, Typed(wanted, found))
	})
}

// scalars collects the places of all scalars that are set, outside of maps.
func scalars(v reflect.Value, found []reflect.Value) []reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			return scalars(v.Elem(), found)
		}
	case reflect.Struct:
		if infoOf(v.Type()).equal != nil || v.Type() == typeMetaType {
			return found
		}
		for _, field := range v.Fields() {
			found = scalars(field, found)
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = scalars(v.Index(i), found)
		}
	case reflect.String, reflect.Int32, reflect.Int64, reflect.Bool:
		if !v.IsZero() && v.CanSet() {
			return append(found, v)
		}
	}
	return found
}

func TestServerDefaultsAreNoDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wanted := deployment()
		pod := &wanted.Spec.Template.Spec
		if rapid.Bool().Draw(t, "no probe") {
			pod.Containers[0].LivenessProbe = nil
		}
		for range rapid.IntRange(0, 3).Draw(t, "more containers") {
			pod.Containers = append(pod.Containers, corev1.Container{Name: rand.String(5)})
		}
		found := wanted.DeepCopy()
		found.Spec.RevisionHistoryLimit = new(int32)
		found.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
		for i := range found.Spec.Template.Spec.Containers {
			c := &found.Spec.Template.Spec.Containers[i]
			c.ImagePullPolicy = corev1.PullPolicy(rapid.SampledFrom([]string{"Always", "IfNotPresent"}).Draw(t, "policy"))
			c.TerminationMessagePolicy = corev1.TerminationMessageReadFile
		}
		scheme.Scheme.Default(found)
		assert.True(t, Typed(wanted, found))
	})
}
