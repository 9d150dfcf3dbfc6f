package buildertest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// history has the versions of the object of a name, the newest last. Stale reads and watches use it.
type history []moment

// moment is an object from one resource version on; nil after its deletion.
type moment struct {
	version uint64
	object  client.Object
}

// at returns the object at a resource version, nil if it didn't exist. It must not be changed.
func (h history) at(version uint64) client.Object {
	for _, m := range slices.Backward(h) {
		if m.version <= version {
			return m.object
		}
	}
	return nil
}

// initialUID returns the UID of an object that the server began with.
func (s *Server) initialUID(obj client.Object) (types.UID, error) {
	k, err := s.kinds.of(obj)
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.tables[k.gvk][newRequest("", k, keyOf(obj)).key()]
	if h == nil || len(*h) == 0 {
		return "", fmt.Errorf("%s %s isn't among the initial objects of the server", k.gvk.Kind, keyOf(obj))
	}
	return (*h)[0].object.GetUID(), nil
}

func (h history) latest() client.Object {
	if len(h) == 0 {
		return nil
	}
	return h[len(h)-1].object
}

// change is the content of a watch event.
type change struct {
	version uint64
	gvk     schema.GroupVersionKind
	kind    watch.EventType
	object  client.Object
	before  client.Object
}

func (s *Server) get(k kind, key types.NamespacedName) client.Object {
	if h := s.tables[k.gvk][key]; h != nil {
		return h.latest()
	}
	return nil
}

// put stores an object under a new resource version. The caller must not use it afterwards.
func (s *Server) put(k kind, obj client.Object) {
	s.version++
	obj.SetResourceVersion(strconv.FormatUint(s.version, 10))
	before := s.get(k, client.ObjectKeyFromObject(obj))
	event := watch.Modified
	if before == nil {
		event = watch.Added
	}
	s.append(k, obj, obj)
	s.send(change{s.version, k.gvk, event, obj, before})
}

// drop removes an object. The watch event has its own resource version.
func (s *Server) drop(k kind, obj client.Object) client.Object {
	s.version++
	gone := obj.DeepCopyObject().(client.Object)
	gone.SetResourceVersion(strconv.FormatUint(s.version, 10))
	s.append(k, gone, nil)
	s.send(change{s.version, k.gvk, watch.Deleted, gone, obj})
	return gone
}

func (s *Server) append(k kind, named, stored client.Object) {
	table := s.tables[k.gvk]
	if table == nil {
		table = map[types.NamespacedName]*history{}
		s.tables[k.gvk] = table
	}
	key := client.ObjectKeyFromObject(named)
	if table[key] == nil {
		table[key] = &history{}
	}
	*table[key] = append(*table[key], moment{s.version, stored})
}

// list returns the objects of a kind at a resource version, in order.
func (s *Server) list(gvk schema.GroupVersionKind, version uint64) []client.Object {
	table := s.tables[gvk]
	names := s.names[gvk]
	if len(names) != len(table) { // no name is ever removed from a table
		names = slices.SortedFunc(maps.Keys(table), byKey)
		s.names[gvk] = names
	}
	var objs []client.Object
	for _, name := range names {
		if obj := table[name].at(version); obj != nil {
			objs = append(objs, obj)
		}
	}
	return objs
}

func byKey(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// gvks returns the kinds that have objects, in order.
func (s *Server) gvks() []schema.GroupVersionKind {
	var gvks []schema.GroupVersionKind
	for gvk := range s.tables {
		gvks = append(gvks, gvk)
	}
	slices.SortFunc(gvks, func(a, b schema.GroupVersionKind) int { return strings.Compare(a.String(), b.String()) })
	return gvks
}

func (s *Server) all() []client.Object {
	objs := s.stored()
	for i, obj := range objs {
		objs[i] = obj.DeepCopyObject().(client.Object)
	}
	return objs
}

func (s *Server) stored() []client.Object {
	var objs []client.Object
	for _, gvk := range s.gvks() {
		objs = append(objs, s.list(gvk, s.version)...)
	}
	return objs
}
