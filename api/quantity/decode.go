package quantity

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// suspicious finds what may be a quantity that Parse refuses, in JSON: a long number, or one with a long exponent, or anything escaped.
var suspicious = regexp.MustCompile(`[0-9.]{60}|[eE][+-]?[0-9]{3,}"|\\u00`)

// CheckJSON returns an error with the path of the first quantity that Parse refuses in a JSON object of a Go type. What isn't JSON, or
// isn't of the type's shape, is no error here: decoding says that better.
func CheckJSON(object []byte, as reflect.Type) error {
	if !suspicious.Match(object) {
		return nil
	}
	var value any
	if json.Unmarshal(object, &value) != nil {
		return nil
	}
	return CheckValue(value, as)
}

// CheckValue is [CheckJSON] of a value that is decoded already, into maps and lists.
func CheckValue(value any, as reflect.Type) error { return checkValue(value, as, "") }

var quantityType = reflect.TypeFor[resource.Quantity]()

func checkValue(value any, as reflect.Type, path string) error {
	for as.Kind() == reflect.Pointer {
		as = as.Elem()
	}
	if as == quantityType {
		if text, ok := value.(string); ok {
			if err := check(text); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return nil
	}
	switch value := value.(type) {
	case []any:
		if as.Kind() != reflect.Slice {
			return nil
		}
		for i, item := range value {
			if err := checkValue(item, as.Elem(), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, child := range value {
			if of := typeOf(as, name); of != nil {
				if err := checkValue(child, of, strings.TrimPrefix(path+"."+name, ".")); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// typeOf returns the type of a map's values, or of the field of a struct that decodes a name, or nil. Like encoding/json, it takes a
// field whose name has other capitals.
func typeOf(as reflect.Type, name string) reflect.Type {
	switch as.Kind() {
	case reflect.Map:
		return as.Elem()
	case reflect.Struct:
		for field := range as.Fields() {
			tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
			switch {
			case field.Anonymous && (tag == "" || strings.Contains(options, "inline")):
				of := field.Type
				for of.Kind() == reflect.Pointer {
					of = of.Elem()
				}
				if found := typeOf(of, name); found != nil {
					return found
				}
			case strings.EqualFold(tag, name), tag == "" && strings.EqualFold(field.Name, name):
				return field.Type
			}
		}
	}
	return nil
}
