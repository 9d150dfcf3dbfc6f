package subset

import (
	"encoding/json"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

var labelSelectorType = reflect.TypeFor[metav1.LabelSelector]()

// values are the structs that are one value to the API server, and how they are compared.
var values = map[reflect.Type]func(wanted, found reflect.Value) bool{
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
		// The API server keeps seconds.
		return as[metav1.Time](w).Unix() == as[metav1.Time](f).Unix()
	},
	reflect.TypeFor[metav1.MicroTime](): func(w, f reflect.Value) bool {
		return as[metav1.MicroTime](w).UnixMicro() == as[metav1.MicroTime](f).UnixMicro()
	},
	reflect.TypeFor[time.Time](): func(w, f reflect.Value) bool {
		return as[time.Time](w).Equal(*as[time.Time](f))
	},
	// More terms select less, so that a selector is equal or different, never contained.
	labelSelectorType: func(w, f reflect.Value) bool {
		return equality.Semantic.DeepEqual(as[metav1.LabelSelector](w), as[metav1.LabelSelector](f))
	},
}

// as returns a pointer to a value of a known type, without a copy if it can be had.
func as[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	value := v.Interface().(T)
	return &value
}

// equalJSON compares values of a type with a JSON form of its own, of which only that form is known.
func equalJSON(wanted, found reflect.Value) bool {
	w, okWanted := decoded(wanted)
	f, okFound := decoded(found)
	return okWanted && okFound && reflect.DeepEqual(w, f)
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
