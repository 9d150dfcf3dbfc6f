package deploy

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// leaf is a value of values.yaml.
type leaf struct {
	path string
	// told is whether there is a comment on it, or on all values of its group.
	told bool
}

// leavesOf returns the values below a node: whatever isn't a map, and maps that are empty.
func leavesOf(path string, told bool, node *yaml.Node) (found []leaf) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at, is := strings.TrimPrefix(path+"."+key.Value, "."), told || key.HeadComment != ""
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 {
			found = append(found, leavesOf(at, is, value)...)
		} else {
			found = append(found, leaf{at, is})
		}
	}
	return found
}

// Each value is explained, has a schema, and is read by a template; and templates read no others.
func TestEachValueIsExplainedAndRead(t *testing.T) {
	text, err := os.ReadFile(chart + "/values.yaml")
	require.NoError(t, err)
	var values yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &values))
	leaves := leavesOf("", false, values.Content[0])
	require.NotEmpty(t, leaves)

	text, err = os.ReadFile(chart + "/values.schema.json")
	require.NoError(t, err)
	var schema object
	require.NoError(t, json.Unmarshal(text, &schema))

	read := map[string]bool{}
	templates, err := filepath.Glob(chart + "/templates/*")
	require.NoError(t, err)
	for _, file := range templates {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, mention := range regexp.MustCompile(`\.Values\.([A-Za-z.]+)`).FindAllStringSubmatch(string(text), -1) {
			read[strings.TrimSuffix(mention[1], ".")] = true
		}
	}
	for _, l := range leaves {
		assert.True(t, l.told, "%s has no comment", l.path)
		assert.True(t, hasSchema(schema, strings.Split(l.path, ".")), "%s has no schema", l.path)
		assert.True(t, anyAbove(l.path, read), "%s is read by no template", l.path)
	}
	for path := range read {
		assert.True(t, isBegunBy(path, leaves), "%s is read by a template, and isn't in values.yaml", path)
	}
}

// hasSchema reports whether a schema says what may be at a path.
func hasSchema(schema any, path []string) bool {
	for _, name := range path {
		below := at(schema, "properties", name)
		if below == nil {
			below = at(schema, "additionalProperties")
		}
		if _, is := below.(object); !is {
			return false
		}
		schema = below
	}
	return true
}

// anyAbove reports whether a value is read, or a group that it is in.
func anyAbove(path string, read map[string]bool) bool {
	for {
		if read[path] {
			return true
		}
		i := strings.LastIndex(path, ".")
		if i < 0 {
			return false
		}
		path = path[:i]
	}
}

// isBegunBy reports whether a path is a value, or a group of values.
func isBegunBy(path string, leaves []leaf) bool {
	for _, l := range leaves {
		if l.path == path || strings.HasPrefix(l.path, path+".") {
			return true
		}
	}
	return false
}
