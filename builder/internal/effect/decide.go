package effect

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Action is the next step of an effect.
type Action int

const (
	// None means that there is nothing to do, or not yet.
	None Action = iota
	// Do calls the performer for the desired state.
	Do
	// Observe asks the performer whether the desired state still is the state outside.
	Observe
	// Undo calls the performer for an effect that is no longer desired.
	Undo
	// Release lets the journal go, without an undo.
	Release
	// Renew lets the journal of a desired effect go, which someone has deleted. The builder creates another.
	Renew
)

// Decide returns the next step of an effect, and the time until it must be decided again if that is None; 0: when something changes.
// observeIn is negative for an effect that isn't observed. With abandoned, its owner's effects aren't undone.
func (j *Journal) Decide(desired, abandoned bool, now time.Time, observeIn time.Duration) (Action, time.Duration) {
	s := j.State
	switch {
	case j.IsUndone() && desired:
		return Renew, 0
	case j.IsUndone() && (abandoned || j.Spec.Retain && j.damage == nil):
		return Release, 0
	case j.damage != nil:
		return None, 0 // the builder restores a desired journal
	case !j.IsUndone() && !desired:
		return None, 0 // the pass didn't come to prune it
	case j.IsDone() && !j.IsUndone():
		if observeIn == 0 {
			return Observe, 0
		}
		return None, max(0, observeIn)
	}
	if s.For == j.purpose() && s.RetryAt != nil && now.Before(s.RetryAt.Time) {
		return None, s.RetryAt.Sub(now)
	}
	if j.IsUndone() {
		return Undo, 0
	}
	return Do, 0
}

// Begun returns the state of an attempt that begins. An attempt in which the process ends counts as failed.
func (j *Journal) Begun(now time.Time) State {
	s := State{For: j.purpose(), Attempts: 1, Result: j.State.Result}
	if j.State.For == s.For {
		s.Attempts = j.State.Attempts + 1
	}
	s.RetryAt = &metav1.Time{Time: now.Add(backoff(s.Attempts))}
	return s
}

// Succeeded returns the state after a successful attempt.
func (s State) Succeeded(result []byte) State { return State{For: s.For, Done: true, Result: result} }

// FailedWith returns the state after a failed attempt.
func (s State) FailedWith(err error, now time.Time) State {
	s.Error = shortError(err)
	s.RetryAt = &metav1.Time{Time: now.Add(backoff(s.Attempts))}
	return s
}

// The backoff after the n-th failed attempt is 2^n seconds, at most 5 minutes.
func backoff(attempts int) time.Duration {
	const most = 5 * time.Minute
	if attempts > 8 {
		return most
	}
	return min(most, time.Second<<(attempts-1))
}

// Pending says what an effect waits for, in a few words.
func (j *Journal) Pending() string {
	verb := "is to be performed"
	if j.IsUndone() {
		verb = "is to be undone"
	}
	if err := j.Failed(); err != "" {
		at := ""
		if j.State.RetryAt != nil {
			at = ", again at " + j.State.RetryAt.UTC().Format(time.RFC3339)
		}
		return fmt.Sprintf("effect %s %s, failed %d times%s: %s", j, verb, j.State.Attempts, at, err)
	}
	return fmt.Sprintf("effect %s %s", j, verb)
}
