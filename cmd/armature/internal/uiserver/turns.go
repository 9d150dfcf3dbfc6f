package uiserver

import (
	"fmt"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// An object takes many times its size in memory, most of it while it is read.
const (
	// maxSubmissions is how many objects all viewers submit at a time, and maxOfUser how many one user.
	maxSubmissions, maxOfUser = 8, 4
	// maxLarge is how many bodies of more than maxBody are received at a time, as slowly as their clients send, and maxLargeOfUser how
	// many of one user. Smaller ones need no turn to be received, as those of other requests.
	maxLarge, maxLargeOfUser = 4, 2
	// maxReading is how many of the submitted objects are read at a time.
	maxReading = 2
	// maxStreams is how many streams are open, and maxStreamsOfUser how many of one user. A page has at most two, so these are the pages
	// of as many viewers as the server remembers.
	maxStreams, maxStreamsOfUser = 2 * maxViewers, 2 * maxOfAccount
)

var (
	submissions = newTurns(maxSubmissions, maxOfUser,
		"you submit %d objects at a time already: try again when one of them has been created",
		"%d objects are being submitted: try again in a moment")
	large = newTurns(maxLarge, maxLargeOfUser,
		"you submit %d objects of more than 64 KiB at a time already: try again when one of them has been created",
		"%d objects of more than 64 KiB are being submitted: try again in a moment")
	streams = newTurns(maxStreams, maxStreamsOfUser,
		"you have %d streams open already: close other windows of this page",
		"%d streams are open already: the page opens this one when others have closed")
	reading = make(chan struct{}, maxReading)
)

// turns counts what is done at a time, in all and of each user.
type turns struct {
	most, ofUser    int
	tooOwn, tooMany string // the refusals, with the limit

	mu  sync.Mutex
	all int
	of  map[any]int
}

func newTurns(most, ofUser int, tooOwn, tooMany string) *turns {
	return &turns{most: most, ofUser: ofUser, tooOwn: tooOwn, tooMany: tooMany, of: map[any]int{}}
}

// begin takes a turn, or refuses it beside too many others.
func (t *turns) begin(v *Viewer) (end func(), err error) {
	user := v.account()
	t.mu.Lock()
	defer t.mu.Unlock()
	var text string
	switch {
	case t.of[user] >= t.ofUser:
		text = fmt.Sprintf(t.tooOwn, t.ofUser)
	case t.all >= t.most:
		text = fmt.Sprintf(t.tooMany, t.most)
	default:
		t.all++
		t.of[user]++
		return func() { t.end(user) }, nil
	}
	return nil, &refusal{http.StatusTooManyRequests, string(metav1.StatusReasonTooManyRequests), text}
}

func (t *turns) end(user any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all--
	if t.of[user]--; t.of[user] == 0 {
		delete(t.of, user)
	}
}
