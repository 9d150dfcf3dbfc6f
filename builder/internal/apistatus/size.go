package apistatus

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/paths"
	"github.com/armature-dev/armature/internal/text"
)

// leastSizeLimit is the smallest limit that concerns an object's size, and not the length of a name or label.
const leastSizeLimit = 1 << 16

// etcdLimit is etcd's default limit for one object (--max-request-bytes), because its error doesn't contain it.
const etcdLimit = 3 << 19

var (
	tooLong        = regexp.MustCompile(`may not be more than (\d+) bytes`)         // data, annotations: validation
	requestTooLong = regexp.MustCompile(`Request entity too large: limit is (\d+)`) // the request's body
	messageTooLong = regexp.MustCompile(`larger than max \(\d+ vs\. (\d+)\)`)       // between API server and etcd
)

// sizeLimit returns the limit that an object exceeded, in bytes, and the field that has it, empty for the whole object. It returns 0
// if an error isn't about the size of an object.
func sizeLimit(err error) (limit int, field string) {
	number := func(match []string) int {
		if len(match) < 2 {
			return 0
		}
		n, _ := strconv.Atoi(match[1]) // a number that is no int has no match
		return n
	}
	if apierrors.IsInvalid(err) {
		for _, cause := range Causes(err) {
			n := number(tooLong.FindStringSubmatch(cause.Message))
			if cause.Type == metav1.CauseTypeTooLong && n >= leastSizeLimit {
				return n, strings.Trim(cause.Field, "[]<>")
			}
		}
		return 0, ""
	}
	message := Message(err)
	switch {
	case strings.Contains(message, "etcdserver: request is too large"):
		return etcdLimit, ""
	case apierrors.IsRequestEntityTooLargeError(err):
		return number(requestTooLong.FindStringSubmatch(message)), ""
	default:
		return number(messageTooLong.FindStringSubmatch(message)), ""
	}
}

// IsTooLarge reports whether an object was refused for its size.
func IsTooLarge(err error) bool {
	limit, _ := sizeLimit(err)
	return limit > 0 || apierrors.IsRequestEntityTooLargeError(err)
}

// ExplainSize adds the largest field, and its size, to an error about the size of an object. The object is as decoded from JSON. The
// values of a Secret count as bytes, not as base64.
func ExplainSize(err error, kind string, object map[string]any) (field string, explained error) {
	limit, under := sizeLimit(err)
	if limit == 0 {
		return "", err
	}
	at, value := "", any(object)
	if under != "" {
		if inner, ok := fieldsAt(object, strings.Split(under, ".")); ok {
			at, value = under, inner
		}
	}
	total := sizeOf(value)
	field, size, parts := largest(at, value, kind == "Secret")
	what := fmt.Sprintf("%s has %d bytes", cmp.Or(field, "the object"), size)
	if parts > 1 {
		what += fmt.Sprintf(" in %d parts", parts)
	}
	whole := "the object's " + strconv.Itoa(total)
	if at != "" {
		whole = at + "'s " + strconv.Itoa(total)
	}
	return field, fmt.Errorf("too large: %s (of %s as JSON), and the API server takes at most %d bytes: %w", what, whole, limit, err)
}

// fieldsAt follows names from map to map.
func fieldsAt(fields map[string]any, path []string) (map[string]any, bool) {
	for _, name := range path {
		next, ok := fields[name].(map[string]any)
		if !ok {
			return nil, false
		}
		fields = next
	}
	return fields, true
}

// largest returns the smallest field that has most of an object's size, its size, and its number of parts.
func largest(path string, value any, secret bool) (field string, size, parts int) {
	size = sizeOf(value)
	best, bestPath, bestSize := any(nil), "", 0
	consider := func(path string, part any) {
		parts++
		if n := sizeOf(part); n > bestSize {
			best, bestPath, bestSize = part, path, n
		}
	}
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			consider(joinPath(path, name), v[name])
		}
	case []any:
		for i, element := range v {
			name := strconv.Itoa(i)
			if named, ok := element.(map[string]any); ok {
				if called, ok := named["name"].(string); ok {
					name = "name=" + called
				}
			}
			consider(path+"["+name+"]", element)
		}
	case string:
		if secret && strings.HasPrefix(path, "data") || strings.HasPrefix(path, "binaryData") {
			return path, base64.StdEncoding.DecodedLen(len(v)) - strings.Count(v, "="), 1
		}
		return path, len(v), 1
	}
	if bestSize == 0 || 2*bestSize < size {
		return path, size, parts
	}
	return largest(bestPath, best, secret)
}

// joinPath adds a name to a path, in the form that Ignore takes.
func joinPath(path, name string) string {
	switch parsed, err := paths.Parse(name); {
	case path == "":
		return name
	case err != nil || len(parsed) != 1:
		return path + "[" + name + "]"
	default:
		return path + "." + name
	}
}

// sizeOf returns the size of a value as JSON in bytes.
func sizeOf(value any) int { return len(text.JSON(value)) }
