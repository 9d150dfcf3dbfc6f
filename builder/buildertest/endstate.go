package buildertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/internal/wellknown"
)

// timestamp matches a time in an object.
var timestamp = regexp.MustCompile(`\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// refusal matches the message, in JSON, that a quota refuses a pod. The pod and the use depend on the order of attempts.
var refusal = regexp.MustCompile(`pods \\"[^"\\]*\\" is forbidden: (exceeded|failed) quota: [^"\\]*`)

// EndState returns all objects of a server as YAML, ordered, without differences between runs. It replaces UIDs by the names of their
// objects, and times, messages that a quota refuses a pod, and the server's choices for a Service (addresses, node ports) by a word. It
// removes resource versions and managed fields, and sorts finalizers, owner references and conditions.
func (s *Server) EndState() ([]string, error) {
	state, err := (&Scenario{Normalize: func(*unstructured.Unstructured) bool { return true }}).endState(s)
	if err != nil {
		return nil, err
	}
	return asYAML(state), nil
}

// asYAML returns the objects of a state as YAML. States are compared as JSON, because encoding YAML is slow.
func asYAML(state []string) []string {
	all := make([]string, len(state))
	for i, obj := range state {
		text, err := yaml.JSONToYAML([]byte(obj))
		if err != nil {
			panic(err) // JSON is YAML
		}
		all[i] = string(text)
	}
	return all
}

// endState returns the objects of a server as JSON, for a comparison.
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
		dropEffectVersions(u)
		sortSets(u)
		if !s.Normalize(u) {
			continue
		}
		text, err := json.Marshal(u.Object)
		if err != nil {
			return nil, err
		}
		bare := timestamp.ReplaceAllString(names.Replace(string(text)), "(time)")
		state = append(state, refusal.ReplaceAllString(bare, "(refusal)"))
	}
	return state, nil
}

// sortSets sorts what is a set for the API server, because its order depends on who was first. Other lists with keys, such as containers,
// keep theirs, because programs depend on it.
func sortSets(u *unstructured.Unstructured) {
	for _, path := range [][]string{{"metadata", "finalizers"}, {"metadata", "ownerReferences"}, {"status", "conditions"}} {
		field, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
		set, _ := field.([]any)
		key := func(element any) string {
			if fields, ok := element.(map[string]any); ok {
				return fmt.Sprint(fields["type"], fields["kind"], fields["name"], fields["uid"])
			}
			return fmt.Sprint(element)
		}
		slices.SortStableFunc(set, func(a, b any) int { return cmp.Compare(key(a), key(b)) })
	}
}

// secretVersion matches the version of a Secret in the journal of an external effect.
var secretVersion = regexp.MustCompile(`/\d+"`)

// dropEffectVersions removes from the journal of an external effect what differs between runs: the versions of Secrets, and the digest
// that depends on them.
func dropEffectVersions(u *unstructured.Unstructured) {
	annotations := u.GetAnnotations()
	desired, ok := annotations[wellknown.AnnotationEffect]
	if !ok || !secretVersion.MatchString(desired) {
		return
	}
	delete(annotations, wellknown.AnnotationDigest)
	annotations[wellknown.AnnotationEffect] = secretVersion.ReplaceAllString(desired, `/(version)"`)
	if state, ok := annotations[wellknown.AnnotationEffectState]; ok {
		annotations[wellknown.AnnotationEffectState] = effectDigest.ReplaceAllString(state, "")
	}
	u.SetAnnotations(annotations)
}

// effectDigest matches the digest of an effect's desired state in its journal.
var effectDigest = regexp.MustCompile(`"for":"[0-9a-f]+",?`)

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
