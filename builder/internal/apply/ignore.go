package apply

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/paths"
)

// leaveOut removes ignored fields from the forms to compare and to apply. The form to create keeps them.
func (d *Desired) leaveOut(fields map[string]any) error {
	if d.Child.Options == nil {
		return nil
	}
	for _, text := range d.Child.Options.Ignored {
		path, err := paths.Parse(text)
		if err == nil {
			err = path.CheckIgnorable()
		}
		if err == nil && !d.Kind.Untyped {
			err = path.Check(reflect.TypeOf(d.Child.Object))
		}
		if err != nil {
			return fmt.Errorf("%w: path %q to ignore of %s %w", failure.ErrMisuse, text, d.Key, err)
		}
		path.Remove(fields)
		d.ignored = append(d.ignored, path)
	}
	return nil
}

// toCompare returns the object with which the observed one is compared.
func (d *Desired) toCompare() (client.Object, error) {
	if len(d.ignored) == 0 || d.Kind.Untyped { // untyped objects are compared by their fields
		return d.object, nil
	}
	obj := reflect.New(reflect.TypeOf(d.object).Elem()).Interface().(client.Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.fields, obj); err != nil {
		return nil, fmt.Errorf("%w: %s without what is ignored: %w", failure.ErrMisuse, d.Key, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // objects from a cache have none either
	return obj, nil
}

// withoutIgnored returns the content of an observed object without ignored fields. It copies the content if needed.
func (d *Desired) withoutIgnored(live map[string]any) map[string]any {
	if len(d.ignored) == 0 {
		return live
	}
	live = runtime.DeepCopyJSON(live)
	for _, p := range d.ignored {
		p.Remove(live)
	}
	return live
}
