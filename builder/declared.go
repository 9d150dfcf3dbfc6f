package builder

import (
	"fmt"
	"path"
	"reflect"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/kinds"
)

// origin says why a View has objects: the owner or one of its children controls them, or the operator watches them.
type origin int

const (
	fromOwned origin = iota
	fromWatched
	origins // how many there are
)

// function is the function that returns the objects of an origin, as a plan calls it.
func (s origin) function() string { return [origins]string{"Owned", "Watched"}[s] }

// line is the line of an operator's description that declares a kind.
func (s origin) line(kind string) string {
	return fmt.Sprintf([origins]string{"Owns(%s)", "Watches(%s, how), how being ReferencedBy, Referencing or SeenByAll,"}[s], kind)
}

// declarations are the kinds that an operator declares: what its plan may ask for and make. They don't change once the
// operator runs.
type declarations struct {
	types   [origins]map[reflect.Type]bool // what the view finds
	home    kindSet                        // Owns: kinds of children that are watched by their controller
	away    kindSet                        // OwnsCrossNamespace: those that are watched by their label
	watched kindSet                        // kinds that are watched for another reason
	outside bool                           // External: state of something outside the cluster
}

// kindSet is a set of kinds. A kind that was declared with another Go form of its objects (unstructured, their metadata)
// is found by its name: it is watched all the same.
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

// isOfKind reports whether an object's Go type tells its kind.
func isOfKind(obj client.Object) bool {
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		return false
	}
	return !kinds.IsUntyped(obj)
}

// kindName is the kind of an object: that which it says, or else the name of its Go type.
func kindName(obj client.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	return reflect.TypeOf(obj).Elem().Name()
}

// declarations returns the kinds that the operator declares.
func (o *Operator[T]) declarations() *declarations {
	d := &declarations{outside: o.external != nil}
	for s := range d.types {
		d.types[s] = map[reflect.Type]bool{}
	}
	for _, obj := range o.owned {
		d.types[fromOwned][reflect.TypeOf(obj)] = true
		d.home.add(obj)
	}
	for _, n := range o.byName {
		d.types[fromOwned][reflect.TypeOf(n.like)] = true
		d.home.add(n.like)
	}
	for _, obj := range o.away {
		d.types[fromOwned][reflect.TypeOf(obj)] = true
		d.away.add(obj)
	}
	for _, dep := range o.dependents {
		d.types[fromOwned][reflect.TypeOf(dep.like)] = true
	}
	for _, w := range o.watches {
		d.types[fromWatched][reflect.TypeOf(w.like)] = true
		d.watched.add(w.like)
	}
	return d
}

// undeclared returns the error of a plan that asks for a kind that the operator doesn't declare as it should.
func (d *declarations) undeclared(function string, s origin, t reflect.Type) error {
	asks := fmt.Sprintf("%s[%s]", function, t)
	if t.Kind() != reflect.Pointer {
		return fmt.Errorf("%w: the plan asks for %s, which is no kind; ask for a pointer to a Go type, such as *v1.Pod", ErrMisuse, asks)
	}
	for other := range origins {
		if d.types[other][t] {
			return fmt.Errorf("%w: the plan asks for %s; as the operator declares the kind it is found by %s; else add %s to the operator",
				ErrMisuse, asks, other.function(), s.line(literal(t)))
		}
	}
	return fmt.Errorf("%w: the plan asks for %s, a kind that the operator doesn't declare, so that none is ever found; add %s to the operator",
		ErrMisuse, asks, s.line(literal(t)))
}

var version = regexp.MustCompile(`^v\d+((alpha|beta)\d+)?$`)

// literal is how an empty object of a Go type is written, under the usual name of its package: "&appsv1.Deployment{}".
func literal(t reflect.Type) string {
	pkg := path.Base(t.Elem().PkgPath())
	if group := path.Base(path.Dir(t.Elem().PkgPath())); version.MatchString(pkg) && group != "api" && group != "apis" {
		pkg = strings.NewReplacer("-", "", ".", "").Replace(group) + pkg
	}
	return "&" + pkg + "." + t.Elem().Name() + "{}"
}
