package v1beta1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	strictjson "sigs.k8s.io/json"
)

// Malformed says why a part of a field couldn't be decoded, and keeps the field unchanged. Decoding a spec never fails:
// an error would keep an operator from reading all other objects of the kind.
type Malformed struct {
	// Why says what was found and what is accepted.
	Why string
	// Field is the whole field with this part, as JSON. It is encoded unchanged while a part of it is malformed.
	Field json.RawMessage
}

func malformed(format string, args ...any) *Malformed {
	return &Malformed{Why: fmt.Sprintf(format, args...)}
}

// keep keeps a field of which this is a part.
func (m *Malformed) keep(field []byte) {
	if m != nil {
		m.Field = slices.Clone(field)
	}
}

// jsonKind is what a JSON value is, in words for people.
type jsonKind string

const (
	jsonNull   jsonKind = "null"
	jsonList   jsonKind = "a list"
	jsonMap    jsonKind = "an object"
	jsonText   jsonKind = "a text"
	jsonScalar jsonKind = "a number or a truth value"
)

func kindOf(data []byte) jsonKind {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0 || string(data) == "null":
		return jsonNull
	case data[0] == '[':
		return jsonList
	case data[0] == '{':
		return jsonMap
	case data[0] == '"':
		return jsonText
	default:
		return jsonScalar
	}
}

// listOf and mapOf take apart what kindOf says to be a list or an object: the JSON around it was read already.
func listOf(data []byte) (list []json.RawMessage) {
	_ = json.Unmarshal(data, &list)
	return list
}

func mapOf(data []byte) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	_ = json.Unmarshal(data, &fields)
	return fields
}

func sortedKeys(fields map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(fields)) }

func quote(text string) string { return strconv.Quote(text) }

// readGroups reads a list of objects, or a map from name to object.
func readGroups(data []byte, read func(name string, raw json.RawMessage, bad *Malformed)) {
	one := func(name string, raw json.RawMessage) {
		if kindOf(raw) != jsonMap {
			read(name, nil, malformed("is %s; want a group", kindOf(raw)))
			return
		}
		read(name, raw, nil)
	}
	switch kindOf(data) {
	case jsonNull:
	case jsonList:
		for _, raw := range listOf(data) {
			one("", raw)
		}
	case jsonMap:
		groups := mapOf(data)
		for _, name := range sortedKeys(groups) {
			one(name, groups[name])
		}
	default:
		read("", nil, malformed("is %s; want a list of groups, or a map from name to group", kindOf(data)))
	}
}

// nameOfGroup says what a group is called that is under a key of a map ("" in a list), and has a name itself.
func nameOfGroup(key, name string) (_, why string) {
	if key != "" && name != "" && key != name {
		return key, "its name is " + quote(name) + ", under the key " + quote(key) + "; want them to be the same, or no name"
	}
	if key == "" {
		key = name
	}
	return key, ""
}

// rename gives fields their usual names. It says why if a field has two.
func rename(fields map[string]json.RawMessage, aliases map[string]string) (why string) {
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		value, ok := fields[alias]
		if !ok {
			continue
		}
		usual := aliases[alias]
		if _, both := fields[usual]; both {
			return alias + " and " + usual + " are two names of one field; want one of them"
		}
		fields[usual] = value
		delete(fields, alias)
	}
	return ""
}

// readStrictly reads fields into a struct, and says why it can't: a field that there isn't, or of another type.
func readStrictly(fields map[string]json.RawMessage, into any) (why string) {
	data, err := json.Marshal(fields)
	if err == nil {
		err = decodeStrictly(data, into)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func decodeStrictly(data []byte, into any) error {
	unknown, err := strictjson.UnmarshalStrict(data, into)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return errors.Join(unknown...)
}

// writeList writes a list; if a part of it couldn't be read, all of it as it was.
func writeList[T any](list []T, plain func(T) (any, *Malformed)) ([]byte, error) {
	written := make([]any, len(list))
	for i := range list {
		value, bad := plain(list[i])
		if bad != nil {
			return bad.Field, nil
		}
		written[i] = value
	}
	return json.Marshal(written)
}
