package uiserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// maxDepth is how deep references in a schema are followed.
const maxDepth = 40

// schemaInfo is what a form is made of.
type schemaInfo struct {
	Schema  map[string]any `json:"schema"`
	Example string         `json:"example"`
}

// schema returns the schema of a kind's spec, as the API server publishes it to everyone who may log in.
func (s *server) schema(w http.ResponseWriter, r *http.Request, v *Viewer) {
	k, err := s.find(v.cluster.Client.RESTMapper(), r.URL.Query().Get("kind"))
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	paths, err := v.cluster.Discovery.OpenAPIV3().Paths()
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	path := "apis/" + k.GroupVersion().String()
	published, ok := paths[path]
	if !ok {
		s.refuse(w, r, &refusal{http.StatusNotFound, "NotFound", "the API server publishes no schema of " + path})
		return
	}
	text, err := published.Schema("application/json")
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	spec, err := specSchema(text, k)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, schemaInfo{Schema: spec, Example: exampleOf(k)})
}

// specSchema finds the schema of a kind's spec in an OpenAPI document, without references.
func specSchema(text []byte, k kind) (map[string]any, error) {
	var document struct {
		Components struct {
			Schemas map[string]map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("read the published schema: %w", err)
	}
	schemas := document.Components.Schemas
	for _, candidate := range schemas {
		if !isOf(candidate, k) {
			continue
		}
		properties, _ := candidate["properties"].(map[string]any)
		spec, ok := resolved(properties["spec"], schemas, 0).(map[string]any)
		if !ok {
			return nil, &refusal{http.StatusNotFound, "NotFound", "a " + k.Kind + " has no spec"}
		}
		return spec, nil
	}
	return nil, &refusal{http.StatusNotFound, "NotFound", "the API server publishes no schema of " + k.Kind}
}

func isOf(schema map[string]any, k kind) bool {
	kinds, _ := schema["x-kubernetes-group-version-kind"].([]any)
	for _, item := range kinds {
		gvk, _ := item.(map[string]any)
		if gvk["group"] == k.Group && gvk["version"] == k.Version && gvk["kind"] == k.Kind {
			return true
		}
	}
	return false
}

// resolved returns a schema with what its references name in their places.
func resolved(value any, schemas map[string]map[string]any, depth int) any {
	if depth > maxDepth {
		return map[string]any{}
	}
	switch v := value.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			return resolved(any(schemas[ref[strings.LastIndex(ref, "/")+1:]]), schemas, depth+1)
		}
		if all, ok := v["allOf"].([]any); ok && len(all) == 1 { // how a reference with a default is written
			if inner, ok := resolved(all[0], schemas, depth+1).(map[string]any); ok {
				merged := map[string]any{}
				maps.Copy(merged, inner)
				for key, item := range v {
					if key != "allOf" {
						merged[key] = item
					}
				}
				return merged
			}
		}
		copied := make(map[string]any, len(v))
		for key, item := range v {
			copied[key] = resolved(item, schemas, depth+1)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i := range v {
			copied[i] = resolved(v[i], schemas, depth+1)
		}
		return copied
	default:
		return value
	}
}
