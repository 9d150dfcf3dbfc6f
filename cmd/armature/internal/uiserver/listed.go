package uiserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

const (
	// maxHeld is how many answers to list requests are held at a time, and of each user one.
	maxHeld = 2
	// maxAnswer is the most bytes of an answer with more than one object: a tenant's objects may have 1.5 MiB each. While it is read, it
	// takes three times its size.
	maxAnswer = 32 << 20
)

var errLargeAnswer = fmt.Errorf("the answer to a list request has more than %d bytes", maxAnswer)

// answering are the slots of all viewers.
var answering = newSlots(maxHeld)

// listed is a page of a list. It reads one object at a time: one whose lists have small items takes 40 times its JSON once it is read.
type listed struct {
	unstructured.UnstructuredList
	texts []json.RawMessage
}

// UnmarshalJSON keeps the objects as they were sent.
func (l *listed) UnmarshalJSON(text []byte) error {
	var all struct {
		metav1.TypeMeta
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := utiljson.Unmarshal(text, &all); err != nil {
		return err
	}
	l.SetGroupVersionKind(all.GroupVersionKind())
	l.SetResourceVersion(all.Metadata.ResourceVersion)
	l.SetContinue(all.Metadata.Continue)
	l.texts = all.Items
	return nil
}

// each reads one object after another, and forgets it. A client that decodes nothing has put them into Items.
func (l *listed) each(source source, do func(*unstructured.Unstructured)) error {
	for i, text := range l.texts {
		u := &unstructured.Unstructured{}
		if err := utiljson.Unmarshal(text, &u.Object); err != nil {
			return err
		}
		u.SetGroupVersionKind(source.gvk) // objects in lists of Kubernetes' own kinds don't have it
		l.texts[i] = nil
		do(u)
	}
	return l.EachListItem(func(obj runtime.Object) error {
		do(obj.(*unstructured.Unstructured)) //nolint:forcetypeassert // Items has no others
		return nil
	})
}

// holding is in the context of a list request. The answer takes a slot when it arrives, not before: no viewer waits for an API server that
// leaves the request of another one without an answer.
type holding struct {
	user    any
	limited bool   // to maxAnswer
	isLarge bool   // beyond that
	leave   func() // nil until it has the slot
}

type holdingKey struct{}

func (h *holding) end() {
	if h.leave != nil {
		h.leave()
	}
}

// BoundAnswers bounds the memory of the viewers with a configuration: few answers to their list requests are held at a time.
func BoundAnswers(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounded{next} })
	return config
}

type bounded struct{ http.RoundTripper }

// RoundTrip returns with the slot, and before the body is read.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.RoundTripper.RoundTrip(r)
	h, isList := r.Context().Value(holdingKey{}).(*holding)
	if err != nil || !isList || answer.StatusCode >= http.StatusMultipleChoices { // client-go may wait, and send it again
		return answer, err
	}
	if h.leave == nil { // client-go hasn't sent it before
		if h.leave, err = answering.take(r.Context(), h.user); err != nil {
			_ = answer.Body.Close() // nothing of it is read
			return nil, err
		}
	}
	if h.limited {
		answer.Body = &body{answer.Body, maxAnswer, &h.isLarge}
	}
	return answer, nil
}

// body is that of an answer which isn't read beyond maxAnswer. It just ends there: client-go would log an error.
type body struct {
	io.ReadCloser
	left    int
	isLarge *bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= n; b.left < 0 {
		*b.isLarge = true
		return n, io.EOF
	}
	return n, err
}

// withHolding returns the context of a list request of a user.
func withHolding(ctx context.Context, user any, limited bool) (context.Context, *holding) {
	h := &holding{user: user, limited: limited}
	return context.WithValue(ctx, holdingKey{}, h), h
}
