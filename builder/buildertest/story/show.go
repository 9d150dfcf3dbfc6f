package story

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/jsonpath"

	"github.com/armature-dev/armature/builder/buildertest"
)

// status is the command status: "status DaemonJob/demo state Ready" shows fields and conditions of an object's status; without names all.
// Fields are in one line, without zeros unless they are named; lists and maps are in a line each, then the conditions with the time of
// their last transition. A message that is the one above is "the same".
func status(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	if len(l.Words) == 0 {
		return "", fmt.Errorf("status: the object is missing; Kind/name is accepted")
	}
	obj, err := s.get(ctx, l.Words[0])
	if err != nil {
		return "", err
	}
	fields, _, err := unstructured.NestedMap(obj.Object, "status")
	if err != nil {
		return "", err
	}
	conditions, _, err := unstructured.NestedSlice(fields, "conditions")
	if err != nil {
		return "", err
	}
	delete(fields, "conditions")
	shown := func(name string) bool { return len(l.Words) == 1 || has(l, name) }
	var plain, lines []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !shown(name) {
			continue
		}
		switch v := fields[name].(type) {
		case map[string]any, []any:
			lines = append(lines, name+": "+compact(v))
		case int64, bool, string:
			if text := fmt.Sprint(v); len(l.Words) > 1 || text != "0" && text != "false" {
				plain = append(plain, name+"="+relative(text))
			}
		}
	}
	if len(plain) > 0 {
		lines = append([]string{strings.Join(plain, " ")}, lines...)
	}
	above := any("")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		name := fmt.Sprint(condition["type"])
		if !shown(name) {
			continue
		}
		words := []string{fmt.Sprintf("%s=%s", name, condition["status"])}
		for _, key := range []string{"reason", "lastTransitionTime"} {
			if v, ok := condition[key]; ok {
				words = append(words, relative(fmt.Sprint(v)))
			}
		}
		line := strings.Join(words, " ")
		switch message := condition["message"]; message {
		case nil, "":
		case above:
			line += ": the same"
		default:
			line += ": " + fmt.Sprint(message)
			above = message
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}

// compact returns a value as JSON, with relative times.
func compact(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err.Error()
	}
	return relative(strings.TrimSpace(b.String()))
}

var times = regexp.MustCompile(`"?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"?`)

// relative replaces times by durations since the story's begin, such as @2m0s.
func relative(text string) string {
	return times.ReplaceAllStringFunc(text, func(found string) string {
		at, err := time.Parse(time.RFC3339, strings.Trim(found, `"`))
		if err != nil {
			return found
		}
		return "@" + at.Sub(buildertest.Epoch).String()
	})
}

// show is the command show: "show Job/demo-n1 .spec.suspend .metadata.labels" shows fields of objects, by JSONPath, a line each. Lines of
// several objects begin with the object's name.
func show(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	objects := slices.IndexFunc(l.Words, func(word string) bool { return strings.HasPrefix(word, ".") })
	if objects < 1 {
		return "", fmt.Errorf("show: Kind/name and at least one path such as .spec.suspend are accepted")
	}
	var lines []string
	for _, name := range l.Words[:objects] {
		obj, err := s.get(ctx, name)
		if err != nil {
			return "", err
		}
		found, err := fieldsOf(obj, l.Words[objects:])
		if err != nil {
			return "", err
		}
		for _, line := range found {
			if objects > 1 {
				line = name + " " + line
			}
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n"), nil
}

// fieldsOf returns a line for each path, with the values of an object.
func fieldsOf(obj *unstructured.Unstructured, paths []string) ([]string, error) {
	var lines []string
	for _, path := range paths {
		p := jsonpath.New("show").AllowMissingKeys(true)
		if err := p.Parse("{" + path + "}"); err != nil {
			return nil, fmt.Errorf("show: path %q: %w", path, err)
		}
		found, err := p.FindResults(obj.Object)
		if err != nil {
			return nil, fmt.Errorf("show: path %q: %w", path, err)
		}
		var values []string
		for _, results := range found {
			for _, r := range results {
				values = append(values, compact(r.Interface()))
			}
		}
		lines = append(lines, strings.TrimSpace(path+": "+strings.Join(values, " ")))
	}
	return lines, nil
}

// list is the command list: "list Pod Job" shows the objects of kinds, one a line, with their state.
func list(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	var lines []string
	for _, name := range l.Words {
		gvk, err := s.kind(name)
		if err != nil {
			return "", err
		}
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind + "List"})
		if err := s.user.List(ctx, all); err != nil {
			return "", err
		}
		for i := range all.Items {
			lines = append(lines, summary(&all.Items[i]))
		}
	}
	return strings.Join(lines, "\n"), nil
}

// summary is an object's line in a list: its kind and name, its node, its state, and whether it terminates.
func summary(u *unstructured.Unstructured) string {
	name := u.GetName()
	if ns := u.GetNamespace(); ns != "" && ns != Namespace {
		name = ns + "/" + name
	}
	words := []string{u.GetKind(), name}
	for _, path := range [][]string{{"spec", "nodeName"}, {"status", "phase"}, {"status", "state"}} {
		if text, found, _ := unstructured.NestedString(u.Object, path...); found && text != "" {
			words = append(words, text)
		}
	}
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range conditions {
		condition, _ := c.(map[string]any)
		if is := condition["type"]; condition["status"] == "True" && slices.Contains([]any{"Complete", "Failed", "Suspended"}, is) {
			words = append(words, fmt.Sprint(is))
		}
	}
	if active, found, _ := unstructured.NestedInt64(u.Object, "status", "active"); found && u.GetKind() == "Job" && active > 0 {
		words = append(words, fmt.Sprint("active=", active))
	}
	if u.GetDeletionTimestamp() != nil {
		words = append(words, "terminating")
	}
	return strings.Join(words, " ")
}
