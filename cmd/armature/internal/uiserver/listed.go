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
	// maxWaitingOfUser is how many answers of a user have begun and aren't read yet: up to 4 MiB of each have arrived.
	maxWaitingOfUser = 8
	// maxAnswer is the most bytes of an answer with more than one object: a tenant's objects may have 1.5 MiB each. While it is read, it
	// takes three times its size.
	maxAnswer = 32 << 20
	// maxSilence is how long the page waits for an answer, or for more of it. The API server itself gives up after a minute by default.
	maxSilence = 70 * time.Second
)

var (
	errLargeAnswer = fmt.Errorf("the answer to a list request has more than %d bytes", maxAnswer)
	errSilence     = fmt.Errorf("the API server has not answered within %s", maxSilence)
)

// waiting are the slots of a user's answers that have begun, and answering those of all viewers' that are read.
var (
	waiting   = userSlots{ofUser: maxWaitingOfUser}
	answering = newSlots(maxHeld)
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

// holding is in the context of a list request. The answer takes its slots when it arrives, not before: no list waits for an API server that
// leaves another one without an answer.
type holding struct {
	user    any
	limited bool     // to maxAnswer
	isLarge bool     // beyond that
	leave   []func() // of the slots that it has
}

type holdingKey struct{}

// hold returns the context of a list request of a user. The caller must call end.
func hold(ctx context.Context, user any, limited bool) (context.Context, *holding) {
	h := &holding{user: user, limited: limited}
	return context.WithValue(ctx, holdingKey{}, h), h
}

func (h *holding) end() {
	for _, leave := range h.leave {
		leave()
	}
	h.leave = nil
}

// BoundAnswers bounds the memory of the viewers with a configuration, and the time that they wait: few answers to their list requests are
// held at a time, and a request without an answer ends.
func BoundAnswers(config *rest.Config) *rest.Config {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounded{next} })
	return config
}

type bounded struct{ http.RoundTripper }

// RoundTrip returns with the slots, and before the body is read.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	h, isList := r.Context().Value(holdingKey{}).(*holding)
	if isList {
		h.end() // client-go has sent it before
	}
	answer, text, err := b.send(r)
	if err != nil || !isList || answer.StatusCode >= http.StatusMultipleChoices { // client-go may wait, and send it again
		return answer, err
	}
	leave := waiting.try(h.user)
	if leave == nil { // the answer would take memory meanwhile; it comes again
		_ = text.Close()
		if leave, err = waiting.take(r.Context(), h.user); err != nil {
			return nil, err
		}
		if answer, text, err = b.send(r); err != nil || answer.StatusCode >= http.StatusMultipleChoices {
			leave()
			return answer, err
		}
	}
	h.leave = append(h.leave, leave)
	if leave, err = answering.take(r.Context(), h.user); err != nil {
		_ = text.Close() // nothing of it is read
		return nil, err
	}
	h.leave = append(h.leave, leave)
	if h.limited {
		text.left, text.isLarge = maxAnswer, &h.isLarge
	}
	return answer, nil
}

// send sends a request, which ends if the API server is silent.
func (b bounded) send(r *http.Request) (*http.Response, *body, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	text := &body{ctx: ctx, cancel: cancel, left: math.MaxInt}
	query := r.URL.Query()
	text.pauses = query.Has("watch") || query.Has("follow")
	late := text.untilLate()
	if query.Has("follow") {
		late.Stop() // a kubelet answers with the first line of a log
	}
	answer, err := b.RoundTripper.RoundTrip(r.WithContext(ctx))
	late.Stop()
	if err != nil {
		err = cmp.Or(context.Cause(ctx), err)
		cancel(nil)
		return nil, nil, err
	}
	text.ReadCloser = answer.Body
	answer.Body = text
	return answer, text, nil
}

// body is that of an answer. That of a list isn't read beyond maxAnswer. It just ends there: client-go would log an error.
type body struct {
	io.ReadCloser
	ctx     context.Context
	cancel  context.CancelCauseFunc
	pauses  bool // as the answer to a watch
	left    int
	isLarge *bool
}

func (b *body) untilLate() *time.Timer {
	return time.AfterFunc(maxSilence, func() { b.cancel(errSilence) })
}

// Read may take maxSilence. The time between two calls is that of the reader.
func (b *body) Read(p []byte) (int, error) {
	if !b.pauses {
		defer b.untilLate().Stop()
	}
	n, err := b.ReadCloser.Read(p)
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
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
