package world

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/builder/buildertest"
)

// State is what controllers observe: all objects of the server at one moment, and the time. A controller must not change its objects,
// which are the server's own.
type State struct {
	Now time.Time

	scheme  *runtime.Scheme
	objects map[schema.GroupVersionKind][]client.Object
	version uint64
	next    time.Time // the earliest time for which a controller waits; zero: none
	script  func(pod *corev1.Pod, restarts int32) Script
	err     error
}

func observe(server *buildertest.Server, scheme *runtime.Scheme) (*State, error) {
	s := &State{Now: server.Clock().Now(), scheme: scheme, objects: map[schema.GroupVersionKind][]client.Object{}, version: server.Version()}
	for _, obj := range server.Stored() {
		gvk, err := apiutil.GVKForObject(obj, scheme)
		if err != nil {
			return nil, err
		}
		s.objects[gvk] = append(s.objects[gvk], obj)
	}
	return s, nil
}

// Due reports whether a time has come. If it hasn't, [World.Wait] moves the clock to it.
func (s *State) Due(at time.Time) bool {
	if !s.Now.Before(at) {
		return true
	}
	s.wake(at)
	return false
}

func (s *State) wake(at time.Time) {
	if s.next.IsZero() || at.Before(s.next) {
		s.next = at
	}
}

// now returns the time as the API keeps it.
func (s *State) now() metav1.Time { return metav1.NewTime(s.Now).Rfc3339Copy() }

// fail records that a controller met an object that it can't imitate.
func (s *State) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf(format, args...)
	}
}

// All returns the objects of a kind, ordered by namespace and name. T is a pointer to a Go type of the server's scheme. Objects that
// can't be read as a T are an error of the step's world.
func All[T client.Object](s *State) []T {
	gvk, err := apiutil.GVKForObject(empty[T](), s.scheme)
	if err != nil {
		s.fail("%w", err)
		return nil
	}
	var all []T
	for _, found := range s.objects[gvk] {
		if u, ok := found.(*unstructured.Unstructured); ok {
			into := empty[T]()
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, into); err != nil {
				s.fail("%s %s/%s: %w", gvk.Kind, u.GetNamespace(), u.GetName(), err)
				continue
			}
			found = into
		}
		all = append(all, found.(T))
	}
	return all
}

func empty[T client.Object]() T { return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) }

// ownedBy returns the objects that an owner controls.
func ownedBy[T client.Object](s *State, owner client.Object) []T {
	return slices.DeleteFunc(All[T](s), func(o T) bool {
		ref := metav1.GetControllerOfNoCopy(o)
		return ref == nil || ref.UID != owner.GetUID() || o.GetNamespace() != owner.GetNamespace()
	})
}

// byUID returns the object with a UID; the zero value if there is none.
func byUID[T client.Object](s *State, uid types.UID) (found T) {
	for _, o := range All[T](s) {
		if o.GetUID() == uid {
			return o
		}
	}
	return found
}

// changed returns a copy of an object with a change.
func changed[T client.Object](obj T, change func(T)) T {
	copied := obj.DeepCopyObject().(T)
	change(copied)
	return copied
}

// lastNumber returns the largest number that follows a prefix in the names of a namespace's pods; past, if that is larger. A pod of a
// former owner that still terminates keeps its name.
func (s *State) lastNumber(namespace, prefix string, past int) int {
	n := past
	for _, pod := range All[*corev1.Pod](s) {
		if rest, ok := strings.CutPrefix(pod.Name, prefix); ok && pod.Namespace == namespace {
			if number, err := strconv.Atoi(rest); err == nil {
				n = max(n, number)
			}
		}
	}
	return n
}
