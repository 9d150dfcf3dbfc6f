package harness

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// firstPause and longestPause are between two polls: many conditions hold after a few milliseconds.
	firstPause, longestPause = 5 * time.Millisecond, 50 * time.Millisecond
	// longestRound is the most that one poll and its pause count for.
	longestRound = time.Second
)

// Eventually waits until something is done. It polls on the test's goroutine, so that what it calls may fail the test. What show
// returns is logged when there is no more patience. A pause of this process, or of the server that a poll asks, uses no patience up:
// of each round at most a second counts.
func Eventually(t *testing.T, patience time.Duration, what string, done func() bool, show ...func() any) {
	t.Helper()
	pause, began := firstPause, time.Now()
	for waited := time.Duration(0); !done(); {
		if waited >= patience {
			for _, f := range show {
				t.Logf("%+v", f())
			}
			require.FailNow(t, "not in time: "+what)
		}
		time.Sleep(pause)
		pause = min(2*pause, longestPause)
		waited += min(time.Since(began), longestRound)
		began = time.Now()
	}
}

// Eventually waits until something is done, with the place's patience.
func (p *Place) Eventually(what string, done func() bool, show ...func() any) {
	p.T.Helper()
	Eventually(p.T, p.Patience, what, done, show...)
}

// Edit reads an object and changes it, as a user does: anew, if a controller was faster.
func (p *Place) Edit(obj client.Object, change func(), opts ...client.UpdateOption) {
	p.T.Helper()
	p.RetryOnConflict("a change of "+obj.GetName(), func() error {
		require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKeyFromObject(obj), obj))
		change()
		return p.Client.Update(p.T.Context(), obj, opts...)
	})
}

// RetryOnConflict reads, changes and writes something anew, until no one else was faster.
func (p *Place) RetryOnConflict(what string, write func() error) {
	p.T.Helper()
	p.Eventually(what, func() bool {
		err := write()
		if !apierrors.IsConflict(err) {
			require.NoError(p.T, err)
		}
		return err == nil
	})
}
