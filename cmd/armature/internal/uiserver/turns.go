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
)

var (
	submissions = turns{of: map[any]int{}}
	large       = turns{of: map[any]int{}}
	reading     = make(chan struct{}, maxReading)
)

// turns counts what is done at a time, in all and of each user.
type turns struct {
	mu  sync.Mutex
	all int
	of  map[any]int
}

// begin takes a turn, or refuses it beside too many others.
func (t *turns) begin(v *Viewer, most, ofUser int, what string) (end func(), err error) {
	user := v.account()
	t.mu.Lock()
	defer t.mu.Unlock()
	var text string
	switch {
	case t.of[user] >= ofUser:
		text = fmt.Sprintf("you submit %d %s at a time already: try again when one of them has been created", ofUser, what)
	case t.all >= most:
		text = fmt.Sprintf("%d %s are being submitted: try again in a moment", most, what)
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

func (v *Viewer) beginSubmission() (end func(), err error) {
	return submissions.begin(v, maxSubmissions, maxOfUser, "objects")
}

func (v *Viewer) beginLarge() (end func(), err error) {
	return large.begin(v, maxLarge, maxLargeOfUser, fmt.Sprintf("objects of more than %d KiB", maxBody>>10))
}
