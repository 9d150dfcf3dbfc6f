package v1beta1

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/armature-dev/armature/api/quantity"
)

// Names are one or more names. In JSON they are a string or a list of strings; one alone is encoded as a string.
type Names []string

// UnmarshalJSON decodes a string or a list of strings.
func (n *Names) UnmarshalJSON(data []byte) error {
	*n = nil
	if kindOf(data) == jsonText {
		var name string
		if err := json.Unmarshal(data, &name); err != nil {
			return err
		}
		if name != "" {
			*n = Names{name}
		}
		return nil
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return fmt.Errorf("is %s; want a name or a list of names", kindOf(data))
	}
	*n = names
	return nil
}

// MarshalJSON encodes a string if there is one name, otherwise a list.
func (n Names) MarshalJSON() ([]byte, error) {
	if len(n) == 1 {
		return json.Marshal(n[0])
	}
	return json.Marshal([]string(n))
}

// Duration is a time as it was given: a number of seconds, or a text such as "90s" or "1h30m".
//
// +kubebuilder:validation:XIntOrString
type Duration string

// Seconds is a Duration of so many seconds.
func Seconds(n int) Duration { return Duration(strconv.Itoa(n)) }

// UnmarshalJSON keeps a number or a string unchanged; Parse validates it.
func (d *Duration) UnmarshalJSON(data []byte) error {
	*d = Duration(textOf(data))
	return nil
}

// MarshalJSON encodes whole seconds as a number, everything else as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return writeNumberOrText(string(d)) }

// Parse returns the time, or otherwise if none is given. A negative or malformed time is an error.
func (d Duration) Parse(otherwise time.Duration) (time.Duration, error) {
	if d == "" {
		return otherwise, nil
	}
	parsed, err := time.ParseDuration(string(d))
	if seconds, notInt := strconv.ParseInt(string(d), 10, 32); notInt == nil {
		parsed, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || parsed < 0 {
		return 0, fmt.Errorf("is %q; want a number of seconds, or a text such as \"90s\"", string(d))
	}
	return parsed, nil
}

// Number is a number as it was given: a whole number, or a text such as "0.75".
//
// +kubebuilder:validation:XIntOrString
type Number string

// UnmarshalJSON keeps a number or a string unchanged; Parse validates it.
func (n *Number) UnmarshalJSON(data []byte) error {
	*n = Number(textOf(data))
	return nil
}

// MarshalJSON encodes a whole number as a number, everything else as a string.
func (n Number) MarshalJSON() ([]byte, error) { return writeNumberOrText(string(n)) }

// Parse returns the number. A malformed number, or one that isn't above 0, is an error.
func (n Number) Parse() (float64, error) {
	value, err := strconv.ParseFloat(string(n), 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value <= 0 {
		return 0, fmt.Errorf("is %q; want a number above 0", string(n))
	}
	return value, nil
}

// Size is an amount of storage as it was given: a quantity such as 10Gi, or a number of bytes.
//
// +kubebuilder:validation:XIntOrString
type Size string

// UnmarshalJSON keeps a number or a string unchanged; Parse validates it.
func (s *Size) UnmarshalJSON(data []byte) error {
	*s = Size(textOf(data))
	return nil
}

// MarshalJSON encodes a whole number as a number, everything else as a string.
func (s Size) MarshalJSON() ([]byte, error) { return writeNumberOrText(string(s)) }

// Parse returns the amount. A malformed amount, or one that isn't above 0, is an error.
func (s Size) Parse() (resource.Quantity, error) {
	value, err := quantity.Parse(string(s))
	if err != nil || value.Sign() <= 0 {
		return resource.Quantity{}, fmt.Errorf("is %q; want a quantity above 0, such as 10Gi", string(s))
	}
	return value, nil
}

// textOf returns the content of a JSON text, or other JSON as it is; null is empty.
func textOf(data []byte) string {
	switch kindOf(data) {
	case jsonNull:
		return ""
	case jsonText:
		var text string
		if json.Unmarshal(data, &text) == nil {
			return text
		}
	}
	return string(data)
}

// wholeNumber is what JSON and the API server's int-or-string take as a whole number.
var wholeNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,8})$`)

func writeNumberOrText(text string) ([]byte, error) {
	if wholeNumber.MatchString(text) {
		return []byte(text), nil
	}
	return json.Marshal(text)
}
