package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/cmd/armature/internal/manifest"
)

// Report is the outcome of checking documents.
type Report struct {
	// Checked counts the checked objects.
	Checked int `json:"checked"`
	// Findings are what is wrong with them, by file.
	Findings []Finding `json:"findings"`
	// Skipped are the objects of other kinds, which aren't checked.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// Skipped is an object that wasn't checked.
type Skipped struct {
	manifest.Place `json:",inline"`
	APIVersion     string `json:"apiVersion"`
	Kind           string `json:"kind"`
	Name           string `json:"name,omitempty"`
}

// Documents checks documents of any kinds. Those of Armature's API group must be of a kind that it has; others are skipped.
func Documents(docs []*manifest.Document) (Report, error) {
	report := Report{Findings: []Finding{}}
	for _, doc := range docs {
		gvk := doc.Object.GroupVersionKind()
		ours, err := Knows(gvk)
		if err != nil {
			return report, err
		}
		switch {
		case ours:
			findings, err := Document(doc)
			if err != nil {
				return report, err
			}
			report.Checked++
			report.Findings = append(report.Findings, findings...)
		case gvk.Kind == "" || gvk.Version == "":
			report.Checked++
			report.Findings = append(report.Findings, Finding{Place: doc.At("kind"), Kind: "object", Name: doc.Object.GetName(),
				Message: "want apiVersion and kind, found " + typeOf(doc.Object)})
		case gvk.Group == v1alpha1.GroupVersion.Group:
			report.Checked++
			kinds, err := Kinds()
			if err != nil {
				return report, err
			}
			report.Findings = append(report.Findings, Finding{doc.At("kind"), gvk.Kind, doc.Object.GetName(), "kind",
				fmt.Sprintf("there is no %s in %s; the kinds are %s", gvk.Kind, gvk.GroupVersion(), strings.Join(kinds, ", "))})
		default:
			report.Skipped = append(report.Skipped, Skipped{doc.At(""), doc.Object.GetAPIVersion(), gvk.Kind, doc.Object.GetName()})
		}
	}
	return report, nil
}

// typeOf says what an object has of a type.
func typeOf(u *unstructured.Unstructured) string {
	return fmt.Sprintf("apiVersion %q and kind %q", u.GetAPIVersion(), u.GetKind())
}

// Kinds returns the kinds that can be checked, in order.
func Kinds() ([]string, error) {
	all, err := known()
	var names []string
	for gvk := range all {
		names = append(names, gvk.Kind)
	}
	slices.Sort(names)
	return slices.Compact(names), err
}
