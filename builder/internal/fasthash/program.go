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

// step hashes the value at an offset, if it isn't zero: most fields of most objects are, and are passed over.
type step struct {
	offset uintptr
	word   uintptr // the word that shows whether it is zero
	size   uint8   // of that word, in bytes; 0 for none
	hash   func(*state, unsafe.Pointer) bool
}

func (s *step) isZero(v unsafe.Pointer) bool {
	word := unsafe.Add(v, s.word)
	switch s.size {
	case 8:
		return *(*uint64)(word) == 0
	case 4:
		return *(*uint32)(word) == 0
	case 2:
		return *(*uint16)(word) == 0
	case 1:
		return *(*uint8)(word) == 0
	default:
		return false
	}
}

// wordOf returns the position and size of a word that is zero only if the whole value of a type is zero.
func wordOf(t reflect.Type) (word uintptr, size uint8) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8, reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32, reflect.Float32,
		reflect.Int64, reflect.Uint64, reflect.Float64, reflect.Int, reflect.Uint,
		reflect.Pointer, reflect.Map:
		return 0, uint8(t.Size())
	case reflect.Slice, reflect.Interface: // the first word is nil
		return 0, uint8(unsafe.Sizeof(uintptr(0)))
	case reflect.String: // the second word is the length
		return unsafe.Sizeof(uintptr(0)), uint8(unsafe.Sizeof(uintptr(0)))
	default:
		return 0, 0
	}
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
		step := &p.steps[i]
		at := unsafe.Add(v, step.offset)
		if step.isZero(at) {
			continue
		}
		s.number(uint64(i))
		if !step.hash(s, at) {
			return false
		}
	}
	s.number(uint64(len(p.steps)))
	return true
}

func stepsOf(t reflect.Type, offset uintptr) []step {
	if t.Kind() != reflect.Struct || known[t] != nil {
		word, size := wordOf(t)
		return []step{{offset, word, size, stepOf(t)}}
	}
	var steps []step
	for field := range t.Fields() {
		if !field.IsExported() {
			return []step{{offset: offset, hash: cannot}}
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
			return typedMap(func(s *state, v resource.Quantity) bool { s.held = v; s.quantity(&s.held); return true })
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
	before := s.sum
	var sum uint64
	for it := m.MapRange(); it.Next(); {
		s.sum = secret[1]
		key.Elem().SetIterKey(it)
		value.Elem().SetIterValue(it)
		if !keys.run(s, key.UnsafePointer()) || !values.run(s, value.UnsafePointer()) {
			return false
		}
		sum += s.sum
	}
	s.sum = before
	s.number(sum)
	return true
}
