package conformance

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func list(s *session) {
	for _, name := range []string{"c", "a", "b"} {
		obj := labelled(configMap(name), "list", "yes")
		obj.Labels["name"] = name
		s.given(obj)
	}
	names := func(opts ...client.ListOption) []string {
		var found corev1.ConfigMapList
		if err := s.client.List(s.ctx, &found, append(opts, client.InNamespace(s.namespace))...); err != nil {
			return []string{err.Error()}
		}
		var names []string
		for _, o := range found.Items {
			names = append(names, o.Name)
		}
		return names
	}
	mineOnly := client.MatchingLabels{"list": "yes"}
	s.note("in order", names(mineOnly))
	s.note("by label", names(mineOnly, client.MatchingLabels{"name": "b"}))
	s.note("by name", names(client.MatchingFields{"metadata.name": "c"}))
	s.note("none", names(client.MatchingLabels{"list": "no"}))

	var page corev1.ConfigMapList
	if err := s.client.List(s.ctx, &page, client.InNamespace(s.namespace), mineOnly, client.Limit(2)); err != nil {
		s.t.Fatal(err)
	}
	s.note("first page", len(page.Items))
	s.note("there is more", page.Continue != "")
	if err := s.client.List(s.ctx, &page, client.InNamespace(s.namespace), mineOnly,
		client.Limit(2), client.Continue(page.Continue)); err != nil {
		s.t.Fatal(err)
	}
	s.note("second page", len(page.Items))
	s.note("there is no more", page.Continue == "")

	// A client that deletes what it has read sees the rest.
	inOrder := func() []string {
		var all []string
		for i := range page.Items {
			all = append(all, page.Items[i].Name)
		}
		return all
	}
	if err := s.client.List(s.ctx, &page, client.InNamespace(s.namespace), mineOnly, client.Limit(1)); err != nil {
		s.t.Fatal(err)
	}
	s.note("first object", inOrder())
	if err := s.client.Delete(s.ctx, &page.Items[0]); err != nil {
		s.t.Fatal(err)
	}
	if err := s.client.List(s.ctx, &page, client.InNamespace(s.namespace), mineOnly, client.Continue(page.Continue)); err != nil {
		s.t.Fatal(err)
	}
	s.note("all others, after its deletion", inOrder())

	missing := configMap("missing")
	missing.Namespace = s.namespace
	s.read("what does not exist", missing)
}

func watching(s *session) {
	first := s.given(labelled(configMap("first"), "watch", "yes"))
	w, err := s.client.Watch(s.ctx, &corev1.ConfigMapList{}, client.InNamespace(s.namespace), client.MatchingLabels{"watch": "yes"})
	if err != nil {
		s.t.Fatal(err)
	}
	defer w.Stop()
	s.given(labelled(configMap("unwatched"), "watch", "no"))
	second := s.given(labelled(configMap("second"), "watch", "yes"))
	s.patched(first, `{"data":{"a":"x"}}`)
	s.patched(first, `{"data":{"a":"x"}}`)
	s.patched(second, `{"metadata":{"labels":{"watch":"no"}}}`)
	s.patched(second, `{"metadata":{"labels":{"watch":"yes"}}}`)
	if err := s.client.Delete(s.ctx, first); err != nil {
		s.t.Fatal(err)
	}
	var seen []string
	for len(seen) < 6 {
		select {
		case e, ok := <-w.ResultChan():
			if !ok {
				s.t.Fatalf("the watch ended after %v", seen)
			}
			if obj, ok := e.Object.(client.Object); ok && e.Type != watch.Bookmark {
				seen = append(seen, string(e.Type)+" "+obj.GetName())
			}
		case <-time.After(10 * time.Second):
			s.t.Fatalf("no event after %v", seen)
		}
	}
	s.note("events", slices.Clone(seen))
}
