package main

import (
	"math"
	"regexp"
)

// The API server never decodes a custom resource into its Go type, so a schema must admit nothing that the Go type doesn't read: one such
// object fails each list and each watch of its kind, and so stops an operator for all namespaces. controller-gen generates wider
// schemas in three places; builder/buildertest/crdtest finds them.

// aTime is a time in RFC 3339 as Go reads it. The format date-time alone admits a lower-case t or z and an offset of 99 hours. It checks
// that the day exists.
const aTime = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`

// aQuantity is a resource.Quantity whose exponent is a whole number of at most two digits: others can't be read, or take hours. The largest
// quantity is about 9E18. controller-gen's pattern is anyQuantity.
const (
	aQuantity   = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	anyQuantity = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
)

// bound narrows the schemas in a CRD. What has bounds keeps them.
func bound(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			bound(item)
		}
	case map[string]any:
		switch intOrString, _ := v["x-kubernetes-int-or-string"].(bool); {
		case v["format"] == "date-time":
			setDefault(v, "pattern", aTime)
			setDefault(v, "minItems", 1) // a text with a format may be a list, as far as its type goes: one of at least 1 and at most 0 items
			setDefault(v, "maxItems", 0)
		case v["pattern"] == anyQuantity:
			v["pattern"] = aQuantity
			setDefault(v, "maxLength", 64)
		case intOrString && !isQuantity(v["pattern"]): // an intstr.IntOrString, whose number is an int32
			setDefault(v, "minimum", math.MinInt32)
			setDefault(v, "maximum", math.MaxInt32)
		}
		for _, child := range v {
			bound(child)
		}
	}
}

// isQuantity reports whether a pattern is that of a resource.Quantity, perhaps one that an author has narrowed already.
func isQuantity(pattern any) bool {
	text, ok := pattern.(string)
	if !ok {
		return false
	}
	re, err := regexp.Compile(text)
	return err == nil && (re.MatchString("1Ki") || re.MatchString("100m"))
}

func setDefault(schema map[string]any, name string, value any) {
	if _, there := schema[name]; !there {
		schema[name] = value
	}
}
