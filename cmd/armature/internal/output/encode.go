package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

// JSON returns a value as JSON, a line for each field, that a [Cleaner] leaves as it is: what controls a terminal is escaped as JSON does
// it, so that the value is the same.
func JSON(value any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetIndent("", indent)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	var clean []byte
	for text := b.Bytes(); len(text) > 0; {
		r, n := utf8.DecodeRune(text)
		// In a string, since JSON has no such characters outside of strings; none has more than four digits. YAML refuses the last three.
		if controls(r) || r == '\ufeff' || r == '\ufffe' || r == '\uffff' {
			clean = fmt.Appendf(clean, `\u%04x`, r)
		} else {
			clean = append(clean, text[:n]...)
		}
		text = text[n:]
	}
	return clean, nil
}

// YAML returns a value as YAML that a [Cleaner] leaves as it is. If something in it controls a terminal, or is a character that YAML
// doesn't have, it is the value's JSON, which is YAML as well, and can escape it.
func YAML(value any) ([]byte, error) {
	asJSON, err := JSON(value, "  ")
	if err != nil || bytes.Contains(asJSON, []byte(`\u`)) {
		return asJSON, err
	}
	return yaml.Marshal(value)
}
