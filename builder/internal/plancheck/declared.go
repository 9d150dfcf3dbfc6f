package plancheck

import (
	"errors"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/kinds"
)

// Origin is the reason why a view has objects: the owner or one of its children controls them, or the operator watches them.
type Origin int

const (
	// Owned means that the owner, or one of its children, controls the objects.
	Owned Origin = iota
	// Watched means that the operator watches the objects.
	Watched
	origins // the number of origins
)

// String returns the name of the function with which a plan reads the objects of an origin.
func (o Origin) String() string { return [origins]string{"Owned", "Watched"}[o] }

// line returns the statement of an operator's description that declares a kind.
func (o Origin) line(kind string) string {
	return fmt.Sprintf([origins]string{"Owns(%s)", "Watches(%s, how), how being ReferencedBy, Referencing or ObservedByAll,"}[o], kind)
}

// Declared has the kinds that an operator declares: those that its plan may read and create. It is immutable once the operator runs.
type Declared struct {
	types          [origins]map[reflect.Type]bool // the types that the view has
	home           kindSet                        // of children in the owner's namespace
	crossNamespace kindSet                        // of children outside it
	watched        kindSet
	external       bool
}

// Owns adds a kind of children. With crossNamespace they are outside the owner's namespace.
func (d *Declared) Owns(kind client.Object, crossNamespace bool) {
	d.finds(Owned, kind)
	if crossNamespace {
		d.crossNamespace.add(kind)
	} else {
		d.home.add(kind)
	}
}

// Dependents adds a kind of objects that children control.
func (d *Declared) Dependents(kind client.Object) { d.finds(Owned, kind) }

// Watches adds a kind that is watched and not owned.
func (d *Declared) Watches(kind client.Object) {
	d.finds(Watched, kind)
	d.watched.add(kind)
}

// External adds the state of something outside the cluster.
func (d *Declared) External() { d.external = true }

func (d *Declared) finds(from Origin, kind client.Object) {
	if d.types[from] == nil {
		d.types[from] = map[reflect.Type]bool{}
	}
	d.types[from][reflect.TypeOf(kind)] = true
}

// Child is the part of a plan's child that shows errors of the plan.
type Child struct {
	Object                   client.Object
	CrossNamespace, Retained bool
	// Initial is true if the builder doesn't restore the object, or part of it: a plan may invent its content.
	Initial bool
}

// maxErrs limits the errors of one pass.
const maxErrs = 8

// CheckChildren returns an error for those of n children whose kinds the operator doesn't declare, because it would not observe their
// changes.
func (d *Declared) CheckChildren(n int, child func(i int) Child) error {
	var errs []error
	var last Child // most have the kind of the one before
	for i := range n {
		c := child(i)
		if kinds.IsNil(c.Object) {
			continue // the application of the child reports the error
		}
		isAsLast := last.Object != nil && reflect.TypeOf(c.Object) == reflect.TypeOf(last.Object) &&
			c.CrossNamespace == last.CrossNamespace && c.Retained == last.Retained
		last = c
		if isAsLast && !kinds.IsUntyped(c.Object) {
			continue
		}
		if err := d.checkChild(c); err != nil && len(errs) < maxErrs {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *Declared) checkChild(c Child) error {
	ok := d.home.has(c.Object)
	switch {
	case c.CrossNamespace:
		ok = d.crossNamespace.has(c.Object) || d.watched.has(c.Object)
	case c.Retained:
		ok = ok || d.watched.has(c.Object)
	}
	if ok {
		return nil
	}
	if !c.CrossNamespace && d.crossNamespace.has(c.Object) {
		return fmt.Errorf("%w: %s is a child in the owner's namespace, and the operator owns the kind outside of it; "+
			"add builder.CrossNamespace() to its Want, or %s to the operator",
			failure.ErrMisuse, nameOf(c.Object), ownsLine(c.Object, false))
	}
	return fmt.Errorf("%w: %s is a child of a kind that the operator doesn't own, so that its changes are never observed; "+
		"add %s to the operator",
		failure.ErrMisuse, nameOf(c.Object), ownsLine(c.Object, c.CrossNamespace))
}

// checkPrune returns an error for undeclared kinds to prune, because the builder neither observes nor finds their objects.
func (d *Declared) checkPrune(of []client.Object) error {
	var errs []error
	for _, obj := range of {
		if kinds.IsNil(obj) {
			continue // pruning reports the error
		}
		if !d.home.has(obj) && !d.crossNamespace.has(obj) {
			errs = append(errs, fmt.Errorf("%w: Plan.Prune has %s, a kind that the operator doesn't own; add %s to the operator",
				failure.ErrMisuse, kindName(obj), ownsLine(obj, false)))
		}
	}
	return errors.Join(errs...)
}

// undeclared returns the error of a plan that reads a kind that the operator doesn't declare in the needed way.
func (d *Declared) undeclared(function string, from Origin, t reflect.Type) error {
	asks := fmt.Sprintf("%s[%s]", function, t)
	if t.Kind() != reflect.Pointer {
		return fmt.Errorf("%w: the plan asks for %s, which is no kind; ask for a pointer to a Go type, such as *v1.Pod", failure.ErrMisuse, asks)
	}
	for other := range origins {
		if d.types[other][t] {
			return fmt.Errorf("%w: the plan asks for %s; as the operator declares the kind it is found by %s; else add %s to the operator",
				failure.ErrMisuse, asks, other, from.line(literal(t)))
		}
	}
	line := from.line(literal(t))
	if function == "Lookup" {
		line += fmt.Sprintf(" for a child, or Watches(%s, ReferencedBy(namesOf)) for an object that the owner's spec names,", literal(t))
	}
	return fmt.Errorf("%w: the plan asks for %s, a kind that the operator doesn't declare, so that none is ever found; add %s to the operator",
		failure.ErrMisuse, asks, line)
}

// ownsLine returns the statement that declares the kind of a child.
func ownsLine(obj client.Object, crossNamespace bool) string {
	what, note := "obj", ""
	if kinds.IsUntyped(obj) {
		gvk := obj.GetObjectKind().GroupVersionKind()
		note = fmt.Sprintf(", obj being an *unstructured.Unstructured of apiVersion %s and kind %s", gvk.GroupVersion(), gvk.Kind)
	} else {
		what = literal(reflect.TypeOf(obj))
	}
	if crossNamespace {
		what += ", builder.CrossNamespace()"
	}
	return "Owns(" + what + ")" + note
}

// kindSet is a set of kinds. It finds a kind that was declared with another Go form of its objects (unstructured, metadata) by its
// name, because the operator watches that kind too.
type kindSet struct {
	types map[reflect.Type]bool
	names map[string]bool
}

func (s *kindSet) add(obj client.Object) {
	if kinds.IsNil(obj) {
		return
	}
	if s.types == nil {
		s.types, s.names = map[reflect.Type]bool{}, map[string]bool{}
	}
	if isOfKind(obj) {
		s.types[reflect.TypeOf(obj)] = true
	}
	s.names[kindName(obj)] = true
}

func (s *kindSet) has(obj client.Object) bool {
	return (isOfKind(obj) && s.types[reflect.TypeOf(obj)]) || s.names[kindName(obj)]
}

// isOfKind reports whether an object's Go type determines its kind.
func isOfKind(obj client.Object) bool {
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return false
	}
	return !kinds.IsUntyped(obj)
}

// kindName returns the kind of an object, or the name of its Go type if the object has no kind.
func kindName(obj client.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(obj).Elem().Name()
}

// nameOf returns a name for an object in errors.
func nameOf(obj client.Object) string {
	return fmt.Sprintf("%T %s/%s", obj, obj.GetNamespace(), obj.GetName())
}

var version = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

// literal returns the Go literal of an empty object of a type, under the usual name of its package: "&appsv1.Deployment{}".
func literal(t reflect.Type) string {
	pkg := path.Base(t.Elem().PkgPath())
	if group := path.Base(path.Dir(t.Elem().PkgPath())); version.MatchString(pkg) && group != "api" && group != "apis" {
		pkg = strings.NewReplacer("-", "", ".", "").Replace(group) + pkg
	}
	return "&" + pkg + "." + t.Elem().Name() + "{}"
}
