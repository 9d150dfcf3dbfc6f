package uiserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
)

const (
	// maxHeld is how many answers to list requests are held at a time, and of each user one.
	maxHeld = 2
	// maxAskedOfUser is how many list requests of a user are sent at a time: up to 4 MiB of each answer arrive before it has a slot.
	maxAskedOfUser = 8
	// maxAnswer is the most bytes of an answer with more than one object: a tenant's objects may have 1.5 MiB each. While it is read, it
	// takes three times its size.
	maxAnswer = 32 << 20
	// maxSilence is how long the page waits for an answer, or for more of a list. The API server itself gives up after a minute by default.
	maxSilence = 70 * time.Second
)

var (
	errLargeAnswer = fmt.Errorf("the answer to a list request has more than %d bytes", maxAnswer)
	errSilence     = fmt.Errorf("the API server has not answered within %s", maxSilence)
)

// asking and answering are the slots of all viewers. Each user has his own of those for asking.
var (
	asking    = newSlots(maxAskedOfUser*maxViewers, maxAskedOfUser)
	answering = newSlots(maxHeld, 1)
)

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

// holding is in the context of a list request, which has a slot for asking. The answer takes its slot when it arrives, not before: no
// viewer waits for an API server that leaves the request of another one without an answer.
type holding struct {
	user    any
	limited bool   // to maxAnswer
	isLarge bool   // beyond that
	asked   func() // leaves the slot for asking
	leave   func() // nil until it has the slot
}

type holdingKey struct{}

// hold waits until a list request of a user may be sent, and returns its context. The caller must call end.
func hold(ctx context.Context, user any, limited bool) (context.Context, *holding, error) {
	asked, err := asking.take(ctx, user)
	if err != nil {
		return nil, nil, err
	}
	h := &holding{user: user, limited: limited, asked: asked}
	return context.WithValue(ctx, holdingKey{}, h), h, nil
}

func (h *holding) end() {
	if h.leave != nil {
		h.leave()
	}
	h.asked()
}

// BoundAnswers bounds the memory of the viewers with a configuration, and the time that they wait: few answers to their list requests are
// held at a time, and a request without an answer ends.
func BoundAnswers(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounded{next} })
	return config
}

type bounded struct{ http.RoundTripper }

// RoundTrip returns with the slot, and before the body is read.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	late := time.AfterFunc(maxSilence, func() { cancel(errSilence) })
	if r.URL.Query().Has("follow") {
		late.Stop() // a kubelet answers with the first line of a log
	}
	answer, err := b.RoundTripper.RoundTrip(r.WithContext(ctx))
	late.Stop()
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
		cancel(nil)
		return nil, err
	}
	text := &body{ReadCloser: answer.Body, ctx: ctx, cancel: cancel, left: math.MaxInt}
	answer.Body = text
	h, isList := r.Context().Value(holdingKey{}).(*holding)
	if !isList || answer.StatusCode >= http.StatusMultipleChoices { // client-go may wait, and send it again
		return answer, nil
	}
	if h.leave == nil { // client-go hasn't sent it before
		if h.leave, err = answering.take(r.Context(), h.user); err != nil {
			_ = text.Close() // nothing of it is read
			return nil, err
		}
	}
	text.late = time.AfterFunc(maxSilence, func() { cancel(errSilence) })
	if h.limited {
		text.left, text.isLarge = maxAnswer, &h.isLarge
	}
	return answer, nil
}

// body is that of an answer. That of a list isn't read beyond maxAnswer. It just ends there: client-go would log an error.
type body struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	late    *time.Timer // nil if the answer may pause, as that to a watch
	left    int
	isLarge *bool
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.late != nil {
		b.late.Reset(maxSilence)
	}
	if b.left -= n; b.left < 0 {
		*b.isLarge = true
		return n, io.EOF
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = cmp.Or(context.Cause(b.ctx), err)
	}
	return n, err
}

// Close ends the request.
func (b *body) Close() error {
	if b.late != nil {
		b.late.Stop()
	}
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
