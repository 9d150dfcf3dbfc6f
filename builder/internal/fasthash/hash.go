package fasthash

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"reflect"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var seed = maphash.MakeSeed()

// hasher writes a value so that no two values write the same: everything of variable length has its length before it.
type hasher struct {
	sum maphash.Hash
	buf [64]byte
}

var pool = sync.Pool{New: func() any {
	h := &hasher{}
	h.sum.SetSeed(seed)
	return h
}}

func newHasher() *hasher { return pool.Get().(*hasher) }

func (h *hasher) free() {
	h.sum.Reset()
	pool.Put(h)
}

// Of returns the hash of v, and false if v has something in it that can't be hashed: a function, a channel, a struct
// with hidden fields.
func Of(v any) (uint64, bool) {
	h := newHasher()
	defer h.free()
	ok := h.any(v)
	return h.sum.Sum64(), ok
}

func (h *hasher) number(n uint64) {
	binary.LittleEndian.PutUint64(h.buf[:8], n)
	_, _ = h.sum.Write(h.buf[:8])
}

func (h *hasher) bool(b bool) {
	var n byte
	if b {
		n = 1
	}
	_ = h.sum.WriteByte(n)
}

func (h *hasher) string(s string) {
	h.number(uint64(len(s)))
	_, _ = h.sum.WriteString(s)
}

func (h *hasher) bytes(b []byte) {
	h.number(uint64(len(b)))
	_, _ = h.sum.Write(b)
}

// length writes a list's or a map's length; nil is told apart.
func (h *hasher) length(n int, isNil bool) {
	if isNil {
		h.number(math.MaxUint64)
		return
	}
	h.number(uint64(n))
}

func (h *hasher) quantity(q *resource.Quantity) {
	h.string(string(q.Format))
	if n, ok := q.AsInt64(); ok {
		h.bool(true)
		h.number(uint64(n))
		return
	}
	h.bool(false)
	number, suffix := q.CanonicalizeBytes(h.buf[8:8:64])
	h.bytes(number)
	h.bytes(suffix)
}

func (h *hasher) time(t time.Time) {
	h.number(uint64(t.Unix()))
	h.number(uint64(t.Nanosecond()))
}

// any hashes what JSON decodes to without reflection, and the rest with it.
func (h *hasher) any(v any) bool {
	switch x := v.(type) {
	case nil:
		h.string("")
	case string:
		h.string("string")
		h.string(x)
	case bool:
		h.string("bool")
		h.bool(x)
	case int64:
		h.string("int64")
		h.number(uint64(x))
	case float64:
		h.string("float64")
		h.number(math.Float64bits(x))
	case []any:
		h.string("[]")
		h.length(len(x), x == nil)
		for _, e := range x {
			if !h.any(e) {
				return false
			}
		}
	case map[string]any:
		h.string("{}")
		return hashMap(h, x, (*hasher).any)
	default:
		value := reflect.ValueOf(v)
		h.string(value.Type().String())
		return h.value(value)
	}
	return true
}

// hashMap hashes a map as the sum of its entries' hashes, which has no order.
func hashMap[K ~string, V any](h *hasher, m map[K]V, value func(*hasher, V) bool) bool {
	h.length(len(m), m == nil)
	if len(m) == 0 {
		return true
	}
	entry := newHasher()
	defer entry.free()
	var sum uint64
	for k, v := range m {
		entry.sum.Reset()
		entry.string(string(k))
		if !value(entry, v) {
			return false
		}
		sum += entry.sum.Sum64()
	}
	h.number(sum)
	return true
}

func hashString(h *hasher, s string) bool { h.string(s); return true }

func hashBytes(h *hasher, b []byte) bool {
	h.length(len(b), b == nil)
	_, _ = h.sum.Write(b)
	return true
}

func hashQuantities(h *hasher, l corev1.ResourceList) bool {
	return hashMap(h, l, func(h *hasher, q resource.Quantity) bool { h.quantity(&q); return true })
}
