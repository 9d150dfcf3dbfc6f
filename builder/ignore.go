package builder

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/paths"
)

// Ignore leaves fields of a child to others: an autoscaler's replicas, an annotation that a tool writes. The builder sends the desired
// value when it creates the object; afterwards it neither compares, nor writes, nor owns the field, so that another desired value changes
// nothing. A field that was applied before is released with the value that it has. Default: the builder puts desired values back whoever
// changed them, and leaves to others what is left empty: Ignore is for fields that need a first value.
//
// A path names fields as they are called in YAML, with dots between them; the key of a map, and what tells an element
// of a list from the others, go in brackets:
//
//	spec.replicas
//	metadata.annotations[example.com/x]
//	data[nginx.conf]
//	spec.template.spec.containers[name=web].image
//	spec.template.spec.containers[name=web].ports[containerPort=80,protocol=TCP]
//
// All that is in a named field is left alone as well. In lists and maps that the API server takes as one value
// (tolerations, selectors), nothing smaller than the whole can be left to others. A path that can't be read, names what
// every child needs (its name, kind, controller), or isn't a field of the object's Go type, is [ErrMisuse]. Of
// unstructured objects only the API server knows which fields there are: a path that names none changes nothing.
//
// Paths name what server-side apply records as owned fields; see
// https://kubernetes.io/docs/reference/using-api/server-side-apply/.
func Ignore(fields ...string) ChildOption { return ignored(fields) }

type ignored []string

func (fields ignored) applyToChild(c *Child) {
	how := c.change()
	how.Ignored = append(how.Ignored, fields...)
}

// leaveOut removes what is ignored from what is compared and applied. What is created has it still.
func (d *desired) leaveOut(fields map[string]any) error {
	if d.child.how == nil {
		return nil
	}
	for _, text := range d.child.how.Ignored {
		path, err := paths.Parse(text)
		if err == nil {
			err = path.CheckIgnorable()
		}
		if err == nil && !d.kind.Untyped {
			err = path.Check(reflect.TypeOf(d.child.object))
		}
		if err != nil {
			return fmt.Errorf("%w: path %q to ignore of %s %w", ErrMisuse, text, d.key, err)
		}
		path.Remove(fields)
		d.ignored = append(d.ignored, path)
	}
	return nil
}

// toCompare returns the object that what is found is compared with.
func (d *desired) toCompare() (client.Object, error) {
	if len(d.ignored) == 0 || d.kind.Untyped { // untyped objects are compared by their fields
		return d.object, nil
	}
	obj := reflect.New(reflect.TypeOf(d.object).Elem()).Interface().(client.Object)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(d.fields, obj); err != nil {
		return nil, fmt.Errorf("%w: %s without what is ignored: %w", ErrMisuse, d.key, err)
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // objects from a cache have none either
	return obj, nil
}

// withoutIgnored returns the content of an object that was found, without what is ignored, as a copy if need be.
func (d *desired) withoutIgnored(found map[string]any) map[string]any {
	if len(d.ignored) == 0 {
		return found
	}
	found = runtime.DeepCopyJSON(found)
	for _, p := range d.ignored {
		p.Remove(found)
	}
	return found
}
