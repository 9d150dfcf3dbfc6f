package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The delays of the pass that acts on what the present one records.
const (
	// Soon is the usual one.
	Soon = time.Millisecond
	// Shortly is that of an operator whose passes take long, so that those of other owners come in between.
	Shortly = 10 * time.Millisecond
	// Later is that of steps that aren't urgent.
	Later = time.Second
)

// Timer is the state of a timer that started at a moment that the API keeps.
type Timer struct {
	// Due reports whether the time has come.
	Due bool
	// Left is the time until then. It is 0 if the time has come, and if it never will.
	Left time.Duration
}

// MaxSeconds is the longest time that takes effect, a hundred years. A longer one in a spec never comes to its end, and
// a time.Duration couldn't hold it.
const MaxSeconds = 100 * 365 * 24 * 60 * 60

// granularity is the precision of the times that the API keeps: an event may have happened up to a second later.
const granularity = time.Second

// End returns the moment that many seconds after a moment that the API keeps. It is never early, and up to a second late. With 0
// seconds or fewer it is the moment itself.
func End(start metav1.Time, seconds int64) time.Time {
	if seconds <= 0 {
		return start.Time
	}
	return start.Add(time.Duration(min(seconds, MaxSeconds))*time.Second + granularity)
}

// Deadline returns the timer of activeDeadlineSeconds, which runs from the start. If either is nil, the time never comes.
func Deadline(started *metav1.Time, activeDeadlineSeconds *int64, now time.Time) Timer {
	if started == nil || activeDeadlineSeconds == nil {
		return Timer{}
	}
	left := End(*started, *activeDeadlineSeconds).Sub(now)
	return Timer{Due: left <= 0, Left: max(left, 0)}
}

// Expiry returns the timer of ttlSecondsAfterFinished, which runs from the end, by the same rule. The end is completionTime, or, if it is
// later, the transition of the condition Succeeded or Failed: completionTime may be by the clock of a node, which may be behind.
func Expiry(completionTime *metav1.Time, conditions []metav1.Condition, ttlSecondsAfterFinished *int32, now time.Time) Timer {
	if completionTime == nil || ttlSecondsAfterFinished == nil {
		return Timer{}
	}
	ended := completionTime
	for i := range conditions {
		c := &conditions[i]
		isEnd := c.Type == v1alpha1.ConditionSucceeded || c.Type == v1alpha1.ConditionFailed
		if isEnd && c.Status == metav1.ConditionTrue && ended.Before(&c.LastTransitionTime) {
			ended = &c.LastTransitionTime
		}
	}
	seconds := int64(*ttlSecondsAfterFinished)
	return Deadline(ended, &seconds, now)
}

// Soonest returns the shortest of several delays, of which 0 means never, as in a plan's RequeueAfter.
func Soonest(times ...time.Duration) time.Duration {
	var soonest time.Duration
	for _, t := range times {
		if t > 0 && (soonest == 0 || t < soonest) {
			soonest = t
		}
	}
	return soonest
}
