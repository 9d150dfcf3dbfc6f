package buildertest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pmezard/go-difflib/difflib"
	"sigs.k8s.io/yaml"
)

// endDifference says how an end state differs from another one: which objects are missing, which are more, and the lines of the others.
// It is empty if the two are equal.
func endDifference(want, got []string) string {
	if slices.Equal(want, got) {
		return ""
	}
	want, got = asYAML(want), asYAML(got)
	wanted, found := byObject(want), byObject(got)
	var b strings.Builder
	for _, text := range want {
		if name := nameIn(text); found[name] == "" {
			fmt.Fprintf(&b, "  %s is missing\n", name)
		} else if found[name] != text {
			diff, err := difflib.GetUnifiedDiffString(difflib.UnifiedDiff{
				A: difflib.SplitLines(text), B: difflib.SplitLines(found[name]), Context: 2,
			})
			if err != nil {
				diff = err.Error()
			}
			fmt.Fprintf(&b, "  %s (-without faults, in the first order, +here):\n%s", name, diff)
		}
	}
	for _, text := range got {
		if name := nameIn(text); wanted[name] == "" {
			fmt.Fprintf(&b, "  %s exists, and doesn't without faults\n", name)
		}
	}
	return b.String()
}

func byObject(state []string) map[string]string {
	objects := map[string]string{}
	for _, text := range state {
		objects[nameIn(text)] = text
	}
	return objects
}

// nameIn returns the kind and the name of an object in YAML.
func nameIn(text string) string {
	var obj struct {
		Kind     string
		Metadata struct{ Namespace, Name string }
	}
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		return text
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s/%s", obj.Kind, obj.Metadata.Namespace, obj.Metadata.Name))
}
