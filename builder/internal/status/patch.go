package status

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/delta"
	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
)

// Of returns an object's status.
func Of(obj client.Object) (any, error) {
	if u, ok := obj.(runtime.Unstructured); ok {
		return u.UnstructuredContent()["status"], nil
	}
	field := reflect.ValueOf(obj).Elem().FieldByName("Status")
	if !field.IsValid() {
		return nil, fmt.Errorf("%w: %T has no field Status", failure.ErrMisuse, obj)
	}
	return field.Interface(), nil
}

// Same reports whether two objects of one kind have the same status.
func Same(a, b client.Object) (bool, error) {
	if kinds.IsNil(a) || kinds.IsNil(b) || reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false, fmt.Errorf("%w: status of %T patched with one of %T", failure.ErrMisuse, a, b)
	}
	if a == b {
		return true, nil
	}
	one, errOne := Of(a)
	other, errOther := Of(b)
	if err := errors.Join(errOne, errOther); err != nil {
		return false, err
	}
	return equality.Semantic.DeepEqual(one, other), nil
}

// Patch returns the merge patch from the status of before to that of after, for a resource version; nil if they are equal in JSON.
func Patch(resourceVersion string, before, after client.Object) ([]byte, error) {
	old, errOld := Fields(before)
	planned, errPlanned := Fields(after)
	if err := errors.Join(errOld, errPlanned); err != nil {
		return nil, err
	}
	patch := delta.MergePatch(old, planned)
	if len(patch) == 0 {
		return nil, nil
	}
	patch["metadata"] = map[string]any{"resourceVersion": resourceVersion}
	return json.Marshal(patch)
}

// Fields returns an object with nothing but the status of obj, as decoded from JSON.
func Fields(obj client.Object) (map[string]any, error) {
	status, err := Of(obj)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return nil, fmt.Errorf("%w: status of %s %s: %w", failure.ErrMisuse, reflect.TypeOf(obj), obj.GetName(), err)
	}
	var fields map[string]any
	return fields, utiljson.Unmarshal(text, &fields)
}

// Diff returns the fields in which two statuses differ, without times that replace times and without the transition times of conditions:
// they follow from the other fields, or say that nothing else has changed.
func Diff(before, after client.Object) ([]delta.Change, error) {
	was, errWas := Fields(before)
	is, errIs := Fields(after)
	if err := errors.Join(errWas, errIs); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(delta.Between(was, is), func(c delta.Change) bool {
		return isTime(c.Old) && isTime(c.New) || strings.HasSuffix(c.Path, "].lastTransitionTime")
	}), nil
}

func isTime(value any) bool {
	text, ok := value.(string)
	if !ok {
		return false
	}
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}
