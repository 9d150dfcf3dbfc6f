package connect

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"
)

// DidYouMean asks whether one of some names was meant, as the end of a message that a name wasn't found. Nothing if none is near.
func DidYouMean(name, prefix string, names []string) string {
	if len(name) < 2 {
		return ""
	}
	best, distance := "", max(1, len(name)/3) // of three letters one may be wrong
	for _, candidate := range slices.Sorted(slices.Values(names)) {
		if d := editDistance(name, candidate); d > 0 && (d < distance || d == distance && best == "") {
			best, distance = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", prefix+best)
}

// editDistance is how many letters must be added, left out, changed or swapped with the next one to make b of a.
func editDistance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, before
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = last[j-1]
			if a[i-1] != b[j-1] {
				row[j] = 1 + min(last[j-1], last[j], row[j-1])
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// WithNearest adds to the error of an object that wasn't found the one of its kind whose name is nearest, if one is near.
func WithNearest(flags *genericclioptions.ConfigFlags, err error) error {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return err
	}
	missing := status.Status().Details
	kind := missing.Kind
	if missing.Group != "" {
		kind += "." + missing.Group
	}
	if hint := DidYouMean(missing.Name, missing.Kind+"/", Names(flags, kind)); hint != "" {
		return fmt.Errorf("%w%s", err, hint)
	}
	return err
}

// Names lists the names of a kind's objects. If that fails the list is empty, because the names are only a help.
func Names(flags *genericclioptions.ConfigFlags, kind string) []string {
	namespace, _, err := flags.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil
	}
	infos, err := resource.NewBuilder(flags).Unstructured().NamespaceParam(namespace).DefaultNamespace().
		ResourceTypeOrNameArgs(true, kind).Latest().Flatten().Do().Infos()
	if err != nil {
		return nil
	}
	var all []string
	for _, info := range infos {
		all = append(all, info.Name)
	}
	return all
}
