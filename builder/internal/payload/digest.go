package payload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
)

// Digest returns a digest of a payload. It is the same in every process and for any order of maps.
func Digest(fields map[string]any) (string, error) {
	buf := texts.Get().(*[]byte)
	defer texts.Put(buf)
	text, err := appendValue((*buf)[:0], fields)
	*buf = text
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16]), nil
}

// texts pools the buffers.
var texts = sync.Pool{New: func() any { return new([]byte) }}

// appendValue writes a value so that two different values never have the same bytes: a letter for its type, a length before variable
// lengths, and maps in their keys' order. A whole number is the same as an integer and as a float.
func appendValue(b []byte, v any) ([]byte, error) {
	switch x := v.(type) {
	case nil:
		return append(b, 'z'), nil
	case bool:
		if x {
			return append(b, 't'), nil
		}
		return append(b, 'f'), nil
	case string:
		return appendString(append(b, 's'), x), nil
	case int64:
		return binary.AppendVarint(append(b, 'i'), x), nil
	case float64:
		if whole := int64(x); float64(whole) == x && math.Abs(x) < 1<<53 {
			return binary.AppendVarint(append(b, 'i'), whole), nil
		}
		return binary.BigEndian.AppendUint64(append(b, 'd'), math.Float64bits(x)), nil
	case []any:
		b = binary.AppendUvarint(append(b, 'l'), uint64(len(x)))
		for _, e := range x {
			var err error
			if b, err = appendValue(b, e); err != nil {
				return b, err
			}
		}
		return b, nil
	case map[string]any:
		b = binary.AppendUvarint(append(b, 'm'), uint64(len(x)))
		var room [16]string
		keys := slices.AppendSeq(room[:0], maps.Keys(x))
		slices.Sort(keys)
		for _, k := range keys {
			var err error
			if b, err = appendValue(appendString(b, k), x[k]); err != nil {
				return b, err
			}
		}
		return b, nil
	default: // not in a payload
		text, err := json.Marshal(v)
		if err != nil {
			return b, fmt.Errorf("digest of a %T: %w", v, err)
		}
		return appendString(append(b, 'j'), string(text)), nil
	}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
