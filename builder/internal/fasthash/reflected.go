package fasthash

import (
	"math"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// value hashes a value whose type is known to whoever hashes.
func (h *hasher) value(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		h.string(v.String())
	case reflect.Bool:
		h.bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		h.number(uint64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		h.number(v.Uint())
	case reflect.Float32, reflect.Float64:
		h.number(math.Float64bits(v.Float()))
	case reflect.Pointer:
		h.bool(!v.IsNil())
		return v.IsNil() || h.value(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return h.any(nil)
		}
		return h.any(v.Interface())
	case reflect.Struct:
		return h.fields(v)
	case reflect.Slice:
		return h.list(v)
	case reflect.Array:
		return h.elements(v)
	case reflect.Map:
		return h.mapping(v)
	default:
		return false
	}
	return true
}

func (h *hasher) list(v reflect.Value) bool {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return hashBytes(h, v.Bytes())
	}
	h.length(v.Len(), v.IsNil())
	return h.elements(v)
}

func (h *hasher) elements(v reflect.Value) bool {
	for i := range v.Len() {
		if !h.value(v.Index(i)) {
			return false
		}
	}
	return true
}

func (h *hasher) mapping(v reflect.Value) bool {
	switch m := v.Interface().(type) {
	case map[string]string:
		return hashMap(h, m, hashString)
	case map[string][]byte:
		return hashMap(h, m, hashBytes)
	case map[string]any:
		return hashMap(h, m, (*hasher).any)
	case corev1.ResourceList:
		return hashQuantities(h, m)
	}
	h.length(v.Len(), v.IsNil())
	entry := newHasher()
	defer entry.free()
	var sum uint64
	for it := v.MapRange(); it.Next(); {
		entry.sum.Reset()
		if !entry.value(it.Key()) || !entry.value(it.Value()) {
			return false
		}
		sum += entry.sum.Sum64()
	}
	h.number(sum)
	return true
}

var (
	quantityType = reflect.TypeFor[resource.Quantity]()
	timeType     = reflect.TypeFor[time.Time]()
)

// exported says for each struct type whether all its fields can be seen.
var exported sync.Map // reflect.Type -> bool

func (h *hasher) fields(v reflect.Value) bool {
	t := v.Type()
	switch t {
	case quantityType:
		h.quantity(pointerTo[resource.Quantity](v))
		return true
	case timeType:
		h.time(*pointerTo[time.Time](v))
		return true
	}
	visible, ok := exported.Load(t)
	if !ok {
		visible = allExported(t)
		exported.Store(t, visible)
	}
	if !visible.(bool) {
		return false
	}
	for i := range v.NumField() {
		if !h.value(v.Field(i)) {
			return false
		}
	}
	return true
}

func allExported(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

// pointerTo returns a pointer to a value of a known type, without a copy if it can be had.
func pointerTo[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	value := v.Interface().(T)
	return &value
}
