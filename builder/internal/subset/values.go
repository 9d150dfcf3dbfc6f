package subset

import (
	"encoding/json"
	"reflect"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

var labelSelectorType = reflect.TypeFor[metav1.LabelSelector]()

// values are the structs that are one value to the API server, and their comparisons.
var values = map[reflect.Type]func(desired, found reflect.Value) bool{
	reflect.TypeFor[resource.Quantity](): func(w, f reflect.Value) bool {
		return as[resource.Quantity](w).Cmp(*as[resource.Quantity](f)) == 0 // 1 is 1000m
	},
	reflect.TypeFor[intstr.IntOrString](): func(w, f reflect.Value) bool {
		return *as[intstr.IntOrString](w) == *as[intstr.IntOrString](f)
	},
	reflect.TypeFor[metav1.Duration](): func(w, f reflect.Value) bool {
		return *as[metav1.Duration](w) == *as[metav1.Duration](f)
	},
	reflect.TypeFor[metav1.Time](): func(w, f reflect.Value) bool {
		// The API server stores seconds.
		return as[metav1.Time](w).Unix() == as[metav1.Time](f).Unix()
	},
	reflect.TypeFor[metav1.MicroTime](): func(w, f reflect.Value) bool {
		return as[metav1.MicroTime](w).UnixMicro() == as[metav1.MicroTime](f).UnixMicro()
	},
	reflect.TypeFor[time.Time](): func(w, f reflect.Value) bool {
		return as[time.Time](w).Equal(*as[time.Time](f))
	},
	// More terms select less, so that a selector is equal or different, never contained.
	labelSelectorType:                                            same[metav1.LabelSelector],
	reflect.TypeFor[corev1.NodeSelector]():                       same[corev1.NodeSelector],
	reflect.TypeFor[corev1.NodeSelectorTerm]():                   same[corev1.NodeSelectorTerm],
	reflect.TypeFor[corev1.ScopeSelector]():                      same[corev1.ScopeSelector],
	reflect.TypeFor[corev1.TopologySelectorTerm]():               same[corev1.TopologySelectorTerm],
	reflect.TypeFor[corev1.ResourceFieldSelector]():              same[corev1.ResourceFieldSelector],
	reflect.TypeFor[corev1.ConfigMapKeySelector]():               same[corev1.ConfigMapKeySelector],
	reflect.TypeFor[corev1.SecretKeySelector]():                  same[corev1.SecretKeySelector],
	reflect.TypeFor[corev1.FileKeySelector]():                    same[corev1.FileKeySelector],
	reflect.TypeFor[corev1.LocalObjectReference]():               same[corev1.LocalObjectReference],
	reflect.TypeFor[corev1.TypedLocalObjectReference]():          same[corev1.TypedLocalObjectReference],
	reflect.TypeFor[corev1.SecretReference]():                    same[corev1.SecretReference],
	reflect.TypeFor[corev1.ObjectReference]():                    same[corev1.ObjectReference],
	reflect.TypeFor[corev1.EndpointAddress]():                    same[corev1.EndpointAddress],
	reflect.TypeFor[corev1.EvictionResponder]():                  same[corev1.EvictionResponder],
	reflect.TypeFor[networkingv1.ServiceBackendPort]():           same[networkingv1.ServiceBackendPort],
	reflect.TypeFor[autoscalingv1.CrossVersionObjectReference](): same[autoscalingv1.CrossVersionObjectReference],
	reflect.TypeFor[admissionv1.ParamKind]():                     same[admissionv1.ParamKind],
	reflect.TypeFor[admissionv1.ParamRef]():                      same[admissionv1.ParamRef],
	reflect.TypeFor[admissionv1.Variable]():                      same[admissionv1.Variable],
	reflect.TypeFor[metav1.OwnerReference](): func(w, f reflect.Value) bool {
		a, b := *as[metav1.OwnerReference](w), *as[metav1.OwnerReference](f)
		if !ptr.Equal(a.Controller, b.Controller) || !ptr.Equal(a.BlockOwnerDeletion, b.BlockOwnerDeletion) {
			return false
		}
		a.Controller, a.BlockOwnerDeletion = b.Controller, b.BlockOwnerDeletion
		return a == b
	},
}

// same compares structs that the API server takes as one value and sets no defaults in.
func same[T any](w, f reflect.Value) bool {
	return equality.Semantic.DeepEqual(as[T](w), as[T](f))
}

// as returns a pointer to a value of a known type, without a copy if possible.
func as[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	value := v.Interface().(T)
	return &value
}

// equalJSON compares values of a type with its own JSON form, of which only that form is known.
func equalJSON(desired, found reflect.Value) bool {
	w, okDesired := decoded(desired)
	f, okFound := decoded(found)
	return okDesired && okFound && reflect.DeepEqual(w, f)
}

func decoded(v reflect.Value) (any, bool) {
	p := reflect.New(v.Type()) // a MarshalJSON may need a pointer
	p.Elem().Set(v)
	data, err := json.Marshal(p.Interface())
	if err != nil {
		return nil, false
	}
	var out any
	err = json.Unmarshal(data, &out)
	return out, err == nil
}
