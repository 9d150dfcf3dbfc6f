package items

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/jobflow/internal/graph"
)

// List is the list that a forEach runs over.
type List struct {
	Values []string
	Digest string // identifies the list: status.items has it
}

// ListOf returns a list of values.
func ListOf(values []string) List {
	h := fnv.New64a()
	for _, value := range values {
		fmt.Fprintf(h, "%d:%s", len(value), value)
	}
	return List{Values: values, Digest: fmt.Sprintf("%016x", h.Sum64())}
}

// Parse returns the list in a node's output, which is a JSON list. Strings in it are taken as they are, and all other values as JSON.
func Parse(node, output string) (List, error) {
	var values []json.RawMessage
	if err := json.Unmarshal([]byte(output), &values); err != nil {
		return List{}, fmt.Errorf("the output of flow %q is no JSON list: %w; it begins with %q", node, err, message.CutJSON(output, 40))
	}
	if values == nil {
		return List{}, fmt.Errorf("the output of flow %q is no JSON list: it is null", node)
	}
	if len(values) > graph.MaxItems {
		return List{}, fmt.Errorf("the output of flow %q has %d items, more than %d", node, len(values), graph.MaxItems)
	}
	texts := make([]string, len(values))
	for n, raw := range values {
		if json.Unmarshal(raw, &texts[n]) != nil || string(raw) == "null" {
			texts[n] = string(raw)
		}
	}
	return ListOf(texts), nil
}
