package crd

import "k8s.io/apimachinery/pkg/runtime"

// Default sets the defaults of the schema, as the API server does: where a field is missing and its parent exists.
func (k *Kind) Default(obj map[string]any) { fill(obj, k.schema) }

func fill(value any, schema map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for name, p := range properties {
			property, _ := p.(map[string]any)
			if _, ok := v[name]; !ok {
				if d, ok := property["default"]; ok {
					v[name] = runtime.DeepCopyJSONValue(d)
				}
			}
			if child, ok := v[name]; ok {
				fill(child, property)
			}
		}
		if additional, ok := schema["additionalProperties"].(map[string]any); ok {
			for name, child := range v {
				if _, ok := properties[name]; !ok {
					fill(child, additional)
				}
			}
		}
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for _, child := range v {
				fill(child, items)
			}
		}
	}
}

// whole converts whole numbers to integers, as decoded objects have them.
func whole(value any) any {
	switch v := value.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case map[string]any:
		for key := range v {
			v[key] = whole(v[key])
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	}
	return value
}

// Prune drops the fields that the schema doesn't have.
func (k *Kind) Prune(obj map[string]any) {
	for name, value := range obj {
		switch property, known := properties(k.schema)[name].(map[string]any); {
		case name == "apiVersion" || name == "kind" || name == "metadata":
		case !known:
			delete(obj, name)
		default:
			prune(value, property)
		}
	}
}

func properties(schema map[string]any) map[string]any {
	p, _ := schema["properties"].(map[string]any)
	return p
}

func prune(value any, schema map[string]any) {
	switch v := value.(type) {
	case map[string]any:
		additional, open := schema["additionalProperties"]
		preserve, _ := schema["x-kubernetes-preserve-unknown-fields"].(bool)
		rest, _ := additional.(map[string]any)
		for name, child := range v {
			if property, ok := properties(schema)[name].(map[string]any); ok {
				prune(child, property)
			} else if open {
				prune(child, rest)
			} else if !preserve {
				delete(v, name)
			}
		}
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for _, child := range v {
				prune(child, items)
			}
		}
	}
}
