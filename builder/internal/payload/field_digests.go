package payload

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

const (
	// fieldDigestSize is the length of a field's digest as text. Of 256 fields, one is taken for another with a probability of 1 to 65536.
	fieldDigestSize = 4
	// maxFieldDigests limits the size of the digests of an object's fields to 1 KiB.
	maxFieldDigests = 256
)

// FieldDigests returns the digests of all fields of a payload, each of its path and value, except those of the metadata. A list is one
// field. The result is empty if there are too many fields.
func FieldDigests(payload map[string]any) (string, error) {
	var digests strings.Builder
	err := eachField(nil, withoutMetadata(payload), func(path []string, value any) error {
		digest, err := fieldDigest(path, value)
		digests.WriteString(digest)
		return err
	})
	if err != nil || digests.Len() > maxFieldDigests*fieldDigestSize {
		return "", err
	}
	return digests.String(), nil
}

// HasFieldDigest reports whether the digest of a field, or of one below it, is among the digests of a payload.
func HasFieldDigest(digests string, path []string, value any) bool {
	found := false
	err := eachField(path, value, func(path []string, value any) error {
		digest, err := fieldDigest(path, value)
		for rest := digests; len(rest) >= fieldDigestSize && !found; rest = rest[fieldDigestSize:] {
			found = rest[:fieldDigestSize] == digest
		}
		return err
	})
	return found && err == nil
}

func withoutMetadata(payload map[string]any) map[string]any {
	fields := maps.Clone(payload)
	maps.DeleteFunc(fields, func(name string, _ any) bool { return name == "apiVersion" || name == "kind" || name == "metadata" })
	return fields
}

// eachField calls yield for each value that isn't a map, and for each empty map, in the order of their paths.
func eachField(path []string, value any, yield func([]string, any) error) error {
	fields, isMap := value.(map[string]any)
	if !isMap || len(fields) == 0 && len(path) > 0 {
		return yield(path, value)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := eachField(append(slices.Clone(path), name), fields[name], yield); err != nil {
			return err
		}
	}
	return nil
}

func fieldDigest(path []string, value any) (string, error) {
	var text []byte
	for _, name := range path {
		text = appendString(append(text, 'p'), name)
	}
	text, err := appendValue(text, value)
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])[:fieldDigestSize], err
}
