package uiserver

import (
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
)

const (
	// maxNamespaces is the most namespaces of a request.
	maxNamespaces = 50
	// rows is the projection of lists.
	rows = "rows"
)

// streamObjects streams the rows of all objects that the viewer may see.
func (s *server) streamObjects(w http.ResponseWriter, r *http.Request, v *Viewer) {
	asked, namespaces, err := s.asked(v.cluster.Client.RESTMapper(), r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	out := newStream(w, r)
	var readers []*reader[row]
	for _, k := range asked {
		for _, namespace := range namespaces {
			if !k.namespaced && namespace != namespaces[0] {
				continue
			}
			src := source{gvk: k.GroupVersionKind, namespace: namespace}
			if !k.namespaced {
				src.namespace = ""
			}
			reader := read(v.hub, src, rows, rowOf, out.wake)
			defer reader.close()
			readers = append(readers, reader)
		}
	}
	out.run(v, func() bool {
		synced := true
		for _, reader := range readers {
			c := reader.take()
			sortRows(c.set)
			sendAll(out, "set", c.set)
			sendGone(out, "gone", c.gone)
			out.source(c.state)
			synced = synced && c.synced
		}
		return synced
	})
}

// asked returns the kinds and the namespaces of a query: all, if it names none.
func (s *server) asked(mapper meta.RESTMapper, r *http.Request) (kinds []kind, namespaces []string, err error) {
	namespaces = r.URL.Query()["namespace"]
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	if len(namespaces) > maxNamespaces {
		return nil, nil, badRequest(fmt.Sprintf("namespace must be set at most %d times, got %d", maxNamespaces, len(namespaces)))
	}
	for _, namespace := range namespaces {
		if err := checkNamespace(namespace); err != nil {
			return nil, nil, err
		}
	}
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	names := r.URL.Query()["kind"]
	if len(names) == 0 {
		kinds, err = s.kinds(mapper)
		return kinds, namespaces, err
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		k, err := s.find(mapper, name)
		if err != nil {
			return nil, nil, err
		}
		kinds = append(kinds, k)
	}
	return kinds, namespaces, nil
}
