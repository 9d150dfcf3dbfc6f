package fasthash

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// program hashes the values of one type. A struct's is a list of steps, those of the structs in it included, so that a
// walk costs neither reflection nor type look-ups.
type program struct {
	steps []step
	once  sync.Once
	typ   reflect.Type
}

// step hashes the value at an offset.
type step struct {
	offset uintptr
	hash   func(*state, unsafe.Pointer) bool
}

var programs sync.Map // reflect.Type -> *program

// programOf returns the program of a type. It is compiled when it first runs, for types may contain themselves.
func programOf(t reflect.Type) *program {
	if known, ok := programs.Load(t); ok {
		return known.(*program)
	}
	p, _ := programs.LoadOrStore(t, &program{typ: t})
	return p.(*program)
}

func (p *program) run(s *state, v unsafe.Pointer) bool {
	p.once.Do(func() { p.steps = stepsOf(p.typ, 0) })
	for i := range p.steps {
		if step := &p.steps[i]; !step.hash(s, unsafe.Add(v, step.offset)) {
			return false
		}
	}
	return true
}

func stepsOf(t reflect.Type, offset uintptr) []step {
	if t.Kind() != reflect.Struct || known[t] != nil {
		return []step{{offset, stepOf(t)}}
	}
	var steps []step
	for i := range t.NumField() {
		field := t.Field(i)
		if !field.IsExported() {
			return []step{{offset, cannot}}
		}
		steps = append(steps, stepsOf(field.Type, offset+field.Offset)...)
	}
	return steps
}

// known are the structs with hidden fields that can be hashed all the same.
var known = map[reflect.Type]func(*state, unsafe.Pointer) bool{
	reflect.TypeFor[resource.Quantity](): func(s *state, v unsafe.Pointer) bool { s.quantity((*resource.Quantity)(v)); return true },
	reflect.TypeFor[time.Time]():         func(s *state, v unsafe.Pointer) bool { s.time((*time.Time)(v)); return true },
}

func cannot(*state, unsafe.Pointer) bool { return false }

func stepOf(t reflect.Type) func(*state, unsafe.Pointer) bool {
	if hash := known[t]; hash != nil {
		return hash
	}
	switch t.Kind() {
	case reflect.String:
		return func(s *state, v unsafe.Pointer) bool { s.string(*(*string)(v)); return true }
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return func(s *state, v unsafe.Pointer) bool { s.number(uint64(*(*uint8)(v))); return true }
	case reflect.Int16, reflect.Uint16:
		return func(s *state, v unsafe.Pointer) bool { s.number(uint64(*(*uint16)(v))); return true }
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		return func(s *state, v unsafe.Pointer) bool { s.number(uint64(*(*uint32)(v))); return true }
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		return func(s *state, v unsafe.Pointer) bool { s.number(*(*uint64)(v)); return true }
	case reflect.Int, reflect.Uint:
		return func(s *state, v unsafe.Pointer) bool { s.number(uint64(*(*uint)(v))); return true }
	case reflect.Pointer:
		return pointerStep(t.Elem())
	case reflect.Slice:
		return listStep(t.Elem())
	case reflect.Map:
		return mapStep(t)
	case reflect.Interface:
		return func(s *state, v unsafe.Pointer) bool { return s.any(reflect.NewAt(t, v).Elem().Interface()) }
	default:
		return cannot
	}
}

func pointerStep(elem reflect.Type) func(*state, unsafe.Pointer) bool {
	p := programOf(elem)
	return func(s *state, v unsafe.Pointer) bool {
		to := *(*unsafe.Pointer)(v)
		s.bool(to != nil)
		return to == nil || p.run(s, to)
	}
}

func listStep(elem reflect.Type) func(*state, unsafe.Pointer) bool {
	if elem.Kind() == reflect.Uint8 {
		return func(s *state, v unsafe.Pointer) bool { s.bytes(*(*[]byte)(v)); return true }
	}
	p, size := programOf(elem), elem.Size()
	return func(s *state, v unsafe.Pointer) bool {
		// All slices look alike but for their elements' size.
		list := *(*[]struct{})(v)
		s.length(len(list), list == nil)
		first := unsafe.Pointer(unsafe.SliceData(list))
		for i := range len(list) {
			if !p.run(s, unsafe.Add(first, uintptr(i)*size)) {
				return false
			}
		}
		return true
	}
}

// mapStep has ways without reflection for the maps that Kubernetes' objects are full of.
func mapStep(t reflect.Type) func(*state, unsafe.Pointer) bool {
	if t.Key().Kind() == reflect.String {
		switch elem := t.Elem(); {
		case elem.Kind() == reflect.String:
			return typedMap(func(s *state, v string) bool { s.string(v); return true })
		case elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.Uint8:
			return typedMap(func(s *state, v []byte) bool { s.bytes(v); return true })
		case elem == reflect.TypeFor[resource.Quantity]():
			return typedMap(func(s *state, v resource.Quantity) bool { s.quantity(&v); return true })
		case elem == reflect.TypeFor[any]():
			return typedMap(func(s *state, v any) bool { return s.any(v) })
		}
	}
	return func(s *state, v unsafe.Pointer) bool { return anyMap(s, reflect.NewAt(t, v).Elem()) }
}

// typedMap hashes maps from a string, of whatever name, to V.
func typedMap[V any](value func(*state, V) bool) func(*state, unsafe.Pointer) bool {
	return func(s *state, v unsafe.Pointer) bool { return hashMap(s, *(*map[string]V)(v), value) }
}

func anyMap(s *state, m reflect.Value) bool {
	s.length(m.Len(), m.IsNil())
	keys, values := programOf(m.Type().Key()), programOf(m.Type().Elem())
	key, value := reflect.New(m.Type().Key()), reflect.New(m.Type().Elem())
	before := *s
	var sum uint64
	for it := m.MapRange(); it.Next(); {
		*s = state(secret[1])
		key.Elem().SetIterKey(it)
		value.Elem().SetIterValue(it)
		if !keys.run(s, key.UnsafePointer()) || !values.run(s, value.UnsafePointer()) {
			return false
		}
		sum += uint64(*s)
	}
	*s = before
	s.number(sum)
	return true
}
