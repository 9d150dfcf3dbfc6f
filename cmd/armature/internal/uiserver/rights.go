package uiserver

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// rightsAge is how long an answer about rights holds. They are for what is offered; the API server decides on each request.
	rightsAge = time.Minute
	// atOnce is how many questions are asked at the same time.
	atOnce = 16
)

// question asks whether the viewer may do something.
type question struct {
	namespace, verb, group, resource, subresource string
}

type answer struct {
	allowed bool
	at      time.Time
}

// rights are the API server's answers to a viewer's questions about himself.
type rights struct {
	client client.Client
	slots  chan struct{}

	mu    sync.Mutex
	known map[question]answer
}

func newRights(c client.Client) *rights {
	return &rights{client: c, slots: make(chan struct{}, atOnce), known: map[question]answer{}}
}

// may asks the API server, unless it has answered a moment ago. What it can't answer is no right.
func (r *rights) may(ctx context.Context, q question) (bool, error) {
	r.mu.Lock()
	known, ok := r.known[q]
	r.mu.Unlock()
	if ok && time.Since(known.at) < rightsAge {
		return known.allowed, nil
	}
	r.slots <- struct{}{}
	defer func() { <-r.slots }()
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: q.namespace, Verb: q.verb, Group: q.group, Resource: q.resource, Subresource: q.subresource,
		},
	}}
	if err := r.client.Create(ctx, review); err != nil {
		if apierrors.IsForbidden(err) {
			return false, nil
		}
		return false, fmt.Errorf("ask the API server what you may do: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.known) > maxAnswers {
		clear(r.known)
	}
	r.known[q] = answer{review.Status.Allowed, time.Now()}
	return review.Status.Allowed, nil
}

// forget has everything asked again: an answer has proved wrong.
func (r *rights) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.known)
}

// maxAnswers bounds the memory for answers.
const maxAnswers = 10_000

// accessInfo is what the viewer may see and do.
type accessInfo struct {
	Namespaces    []string     `json:"namespaces,omitempty"`
	AllNamespaces bool         `json:"allNamespaces"`
	Kinds         []kindAccess `json:"kinds"`
}

type kindAccess struct {
	Kind       string              `json:"kind"`
	Resource   string              `json:"resource"`
	APIVersion string              `json:"apiVersion"`
	Namespaced bool                `json:"namespaced"`
	Verbs      map[string][]string `json:"verbs"`
}

// kindVerbs and belowVerbs are what is asked about.
var (
	kindVerbs  = []string{"list", "watch", "create", "patch", "delete"}
	belowVerbs = []string{"list", "watch"}
)

// access says what the viewer may see and do in the namespaces of the query, or in all.
func (s *server) access(w http.ResponseWriter, r *http.Request, v *Viewer) {
	mapper := v.cluster.Client.RESTMapper()
	_, namespaces, err := s.asked(mapper, r)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	kinds, err := s.kinds(mapper)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	info := accessInfo{Kinds: []kindAccess{}}
	var questions []func(context.Context) error
	var mu sync.Mutex
	ask := func(k kind, verbs []string, subresource string) {
		i := len(info.Kinds)
		name := k.Kind
		if subresource != "" {
			name = podLog
		}
		info.Kinds = append(info.Kinds, kindAccess{
			Kind: name, Resource: k.resource, APIVersion: k.GroupVersion().String(), Namespaced: k.namespaced, Verbs: map[string][]string{},
		})
		for _, namespace := range namespaces {
			for _, verb := range verbs {
				questions = append(questions, func(ctx context.Context) error {
					q := question{verb: verb, group: k.Group, resource: schema.ParseGroupResource(k.resource).Resource, subresource: subresource}
					if k.namespaced {
						q.namespace = namespace
					}
					allowed, err := v.rights.may(ctx, q)
					if err != nil || !allowed {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					of := info.Kinds[i].Verbs
					of[shownNamespace(namespace)] = append(of[shownNamespace(namespace)], verb)
					return nil
				})
			}
		}
	}
	for _, k := range kinds {
		ask(k, kindVerbs, "")
	}
	for _, gk := range below {
		k, err := kindOf(mapper, gk)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		ask(k, belowVerbs, "")
		if gk.Kind == "Pod" {
			ask(k, []string{"get"}, "log")
		}
	}
	if err := all(r.Context(), questions); err != nil {
		s.refuse(w, r, err)
		return
	}
	for _, k := range info.Kinds {
		for _, verbs := range k.Verbs {
			slices.Sort(verbs)
		}
		info.AllNamespaces = info.AllNamespaces || k.Namespaced && slices.Contains(k.Verbs["*"], "list")
	}
	if info.Namespaces, err = namespacesOf(r.Context(), v); err != nil {
		s.refuse(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, info)
}

// shownNamespace writes all namespaces as a star.
func shownNamespace(namespace string) string {
	if namespace == "" {
		return "*"
	}
	return namespace
}

// all asks questions side by side, and returns the first error.
func all(ctx context.Context, questions []func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for _, ask := range questions {
		wg.Go(func() {
			if err := ask(ctx); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// namespacesOf lists the namespaces, none if the viewer may not.
func namespacesOf(ctx context.Context, v *Viewer) ([]string, error) {
	var list corev1.NamespaceList
	if err := v.cluster.Client.List(ctx, &list); err != nil {
		if apierrors.IsForbidden(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("list namespaces: %w", err)
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}
