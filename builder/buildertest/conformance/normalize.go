package conformance

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// show returns the parts of an object that a transcript has: without resource version, times and the fields of controllers.
func (s *session) show(obj client.Object) map[string]any {
	data, err := json.Marshal(obj)
	if err != nil {
		s.t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := json.Unmarshal(data, &u.Object); err != nil {
		s.t.Fatal(err)
	}
	if u.GetKind() == "" {
		u.SetGroupVersionKind(like(obj).GetObjectKind().GroupVersionKind())
	}
	if uid := u.GetUID(); uid != "" {
		s.uids[uid] = fmt.Sprintf("(uid of %s)", u.GetName())
	}
	metadata, _ := u.Object["metadata"].(map[string]any)
	delete(metadata, "resourceVersion")
	s.showFields(u)
	if !s.keepStatus {
		delete(u.Object, "status")
	}
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "deployment.kubernetes.io/revision")
	if len(u.GetAnnotations()) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
	}
	for _, gap := range gaps[u.GetKind()] {
		unstructured.RemoveNestedField(u.Object, gap...)
	}
	if u.GetKind() == "Pod" {
		withoutToken(u)
	}
	return u.Object
}

// gaps are fields that the fake server doesn't imitate.
var gaps = map[string][][]string{
	// The fake server doesn't imitate the claim protection controller.
	"PersistentVolumeClaim": {{"metadata", "finalizers"}},
}

// withoutToken removes the volume of the service account's token from a Pod, because its name is random.
func withoutToken(u *unstructured.Unstructured) {
	drop := func(list []any) []any {
		return slices.DeleteFunc(list, func(v any) bool {
			name, _ := v.(map[string]any)["name"].(string)
			return strings.HasPrefix(name, "kube-api-access-")
		})
	}
	spec, _ := u.Object["spec"].(map[string]any)
	if volumes, ok := spec["volumes"].([]any); ok {
		if spec["volumes"] = drop(volumes); len(spec["volumes"].([]any)) == 0 {
			delete(spec, "volumes")
		}
	}
	containers, _ := spec["containers"].([]any)
	for _, c := range containers {
		container, _ := c.(map[string]any)
		if mounts, ok := container["volumeMounts"].([]any); ok {
			if container["volumeMounts"] = drop(mounts); len(container["volumeMounts"].([]any)) == 0 {
				delete(container, "volumeMounts")
			}
		}
	}
}

// showFields keeps the managed fields of the case's own field owners, without times.
func (s *session) showFields(u *unstructured.Unstructured) {
	entries, _, _ := unstructured.NestedSlice(u.Object, "metadata", "managedFields")
	var own []any
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		if entry["manager"] == Manager || entry["manager"] == "other" {
			delete(entry, "time")
			own = append(own, entry)
		}
	}
	if len(own) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
		return
	}
	slices.SortStableFunc(own, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	if err := unstructured.SetNestedSlice(u.Object, own, "metadata", "managedFields"); err != nil {
		s.t.Fatal(err)
	}
}

var (
	times     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	addresses = regexp.MustCompile(`\b10\.\d+\.\d+\.\d+\b`)
	nodePorts = regexp.MustCompile(`"nodePort":\d+`)
	// The API server shows a refused value as a Go value of its own types.
	values   = regexp.MustCompile(`(Invalid value|Duplicate value): [{\[&].*?[}\]]: `)
	versions = regexp.MustCompile(`(ResourceVersion in (?:the precondition|record)) \(\d+\)`)
	// The suffix of a generated name.
	generated = regexp.MustCompile(`generated-[a-z0-9]{5}\b`)
)

func withoutValues(message string) string {
	message = values.ReplaceAllString(message, "$1: (value): ")
	for _, mark := range []string{"for bound claims", "if it was previously negative)"} {
		if before, _, ok := strings.Cut(message, mark); ok {
			message = before + mark + " (difference)"
		}
	}
	return message
}

// normalize makes transcripts of different servers and times comparable.
func (s *session) normalize(text string) string {
	var names []string
	for uid, name := range s.uids {
		names = append(names, string(uid), name)
	}
	names = append(names, s.namespace, "(namespace)", s.other, "(other namespace)")
	text = strings.NewReplacer(names...).Replace(text)
	text = times.ReplaceAllString(text, "(time)")
	text = addresses.ReplaceAllString(text, "(address)")
	text = nodePorts.ReplaceAllString(text, `"nodePort":"(port)"`)
	text = generated.ReplaceAllString(text, "generated-(suffix)")
	return versions.ReplaceAllString(text, "$1 (version)")
}

// knows makes transcripts show a UID as name from here on.
func (s *session) knows(uid types.UID, name string) { s.uids[uid] = "(" + name + ")" }
