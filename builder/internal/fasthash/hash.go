package fasthash

import (
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"sync"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Drawn in each process.
var (
	seed   = maphash.MakeSeed()
	secret = [2]uint64{rand.Uint64(), rand.Uint64() | 1}
)

// state is a hash in the making. Values are written so that no two write the same: whatever has a variable length is
// preceded by it.
type state struct {
	sum uint64

	// What would be allocated each time if it were a variable where it is used.
	held resource.Quantity
	text [64]byte
}

// states are used again: one is more than a hash needs to allocate.
var states = sync.Pool{New: func() any { return new(state) }}

// number mixes one word in, as wyhash does.
func (s *state) number(n uint64) {
	hi, lo := bits.Mul64(n^secret[0], s.sum^secret[1])
	s.sum = hi ^ lo
}

// string writes a length and what has it. Most strings are short: they are a word or two.
func (s *state) string(v string) {
	n := len(v)
	s.number(uint64(n))
	switch p := unsafe.Pointer(unsafe.StringData(v)); {
	case n == 0:
	case n < 4:
		s.number(uint64(v[0]) | uint64(v[n/2])<<8 | uint64(v[n-1])<<16)
	case n <= 8:
		s.number(uint64(*(*uint32)(p)) | uint64(*(*uint32)(unsafe.Add(p, n-4)))<<32)
	case n <= 16:
		s.number(*(*uint64)(p))
		s.number(*(*uint64)(unsafe.Add(p, n-8)))
	default:
		s.number(maphash.String(seed, v))
	}
}

func (s *state) bytes(v []byte) {
	s.length(len(v), v == nil)
	if len(v) > 0 {
		s.number(maphash.Bytes(seed, v))
	}
}

// length writes the length of a list or a map. A nil one differs from an empty one.
func (s *state) length(n int, isNil bool) {
	if isNil {
		n = -1
	}
	s.number(uint64(n))
}

// quantity hashes a value and its format, in whatever form the value is kept: 1000m parsed, or 1 after AsDec, is 1.
func (s *state) quantity(q *resource.Quantity) {
	s.string(string(q.Format))
	n, isWhole := q.AsInt64()
	if !isWhole {
		n = q.Value() // rounded, or wrong if it is too large
		isWhole = q.CmpInt64(n) == 0
	}
	if isWhole {
		s.number(1)
		s.number(uint64(n))
		return
	}
	s.number(0)
	number, suffix := q.CanonicalizeBytes(s.text[:0])
	s.bytes(number)
	s.bytes(suffix)
}

func (s *state) time(t *time.Time) {
	s.number(uint64(t.Unix()))
	s.number(uint64(t.Nanosecond()))
}

// Of returns the hash of what v points to, and false if v is no pointer, or if there is something in it that can't be
// hashed: a function, a channel, a struct with hidden fields.
func Of(v any) (uint64, bool) {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() {
		return 0, false
	}
	s := states.Get().(*state)
	s.sum = secret[0]
	ok := s.any(v)
	sum := s.sum
	s.held = resource.Quantity{} // it may hold on to a big number
	states.Put(s)
	return sum, ok
}

// any hashes what JSON decodes to, and pointers.
func (s *state) any(v any) bool {
	switch x := v.(type) {
	case nil:
		s.number(0)
	case string:
		s.number(1)
		s.string(x)
	case bool:
		s.number(2)
		s.bool(x)
	case int64:
		s.number(3)
		s.number(uint64(x))
	case float64:
		s.number(4)
		s.number(math.Float64bits(x))
	case []any:
		s.number(5)
		s.length(len(x), x == nil)
		for _, e := range x {
			if !s.any(e) {
				return false
			}
		}
	case map[string]any:
		s.number(6)
		return hashMap(s, x, func(s *state, e any) bool { return s.any(e) })
	default:
		p := reflect.ValueOf(v)
		if p.Kind() != reflect.Pointer {
			return false
		}
		s.number(7)
		s.string(p.Type().Elem().String())
		return p.IsNil() || programOf(p.Type().Elem()).run(s, p.UnsafePointer())
	}
	return true
}

func (s *state) bool(b bool) {
	if b {
		s.number(1)
		return
	}
	s.number(0)
}

// hashMap hashes a map as the sum of its entries' hashes, which has no order.
func hashMap[V any](s *state, m map[string]V, value func(*state, V) bool) bool {
	s.length(len(m), m == nil)
	before := s.sum
	var sum uint64
	for k, v := range m {
		s.sum = secret[1] // each entry starts again
		s.string(k)
		if !value(s, v) {
			return false
		}
		sum += s.sum
	}
	s.sum = before
	s.number(sum)
	return true
}
