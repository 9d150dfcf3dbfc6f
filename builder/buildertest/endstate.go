package buildertest

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// timestamp matches a time in an object.
var timestamp = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// EndState returns all objects of a server as YAML, ordered, without differences between runs. It replaces UIDs by the names of their
// objects, and times and the server's choices for a Service (addresses, node ports) by a word. It removes resource versions and
// managed fields.
func (s *Server) EndState() ([]string, error) {
	return (&Scenario{Normalize: func(*unstructured.Unstructured) bool { return true }}).endState(s)
}

func (s *Scenario) endState(server *Server) ([]string, error) {
	names := strings.NewReplacer(server.namesOfUIDs()...)
	var state []string
	for _, obj := range server.Objects() {
		content, err := asMap(obj)
		if err != nil {
			return nil, err
		}
		u := &unstructured.Unstructured{Object: content}
		dropAllocated(u)
		for _, field := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
			unstructured.RemoveNestedField(u.Object, "metadata", field)
		}
		if !s.Normalize(u) {
			continue
		}
		text, err := yaml.Marshal(u.Object)
		if err != nil {
			return nil, err
		}
		state = append(state, timestamp.ReplaceAllString(names.Replace(string(text)), "(time)"))
	}
	return state, nil
}

// namesOfUIDs returns all UIDs that ever existed, each with a name.
func (s *Server) namesOfUIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for gvk, table := range s.tables {
		for key, h := range table {
			for _, m := range *h {
				if m.object != nil {
					names = append(names, string(m.object.GetUID()), fmt.Sprintf("(uid of %s %s)", gvk.Kind, key))
				}
			}
		}
	}
	return names
}

func keyOf(obj client.Object) types.NamespacedName { return client.ObjectKeyFromObject(obj) }
