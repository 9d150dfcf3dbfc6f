package runpolicy

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagedByArmature is the value of spec.managedBy that means the bundled operators, as leaving it out does.
const ManagedByArmature = "api.practice.com/armature"

// IsOurs reports whether an object with this spec.managedBy is to be acted on. One that another controller manages is
// not to be touched at all, its status neither (the rule of a Job's managedBy, KEP-4368).
func IsOurs(managedBy *string) bool {
	return managedBy == nil || *managedBy == ManagedByArmature
}

// Timer is something that happens some time after a moment that the API keeps.
type Timer struct {
	// Due is true once the time has come.
	Due bool
	// Left is how long it takes until then. It is 0 if the time has come, and if it never will.
	Left time.Duration
}

// MaxSeconds is the longest time that takes effect, a hundred years. A longer one in a spec never comes to its end, and
// a time.Duration couldn't hold it.
const MaxSeconds = 100 * 365 * 24 * 60 * 60

// granularity is how precise the times are that the API keeps: what happened may have done so up to a second later.
const granularity = time.Second

// End returns the moment so many seconds after one that the API keeps. It is never early, and up to a second late; without
// seconds there is nothing to wait for.
func End(start metav1.Time, seconds int64) time.Time {
	if seconds <= 0 {
		return start.Time
	}
	return start.Add(time.Duration(min(seconds, MaxSeconds))*time.Second + granularity)
}

// After returns the timer of so many seconds after a moment. Without either of them (nil) the time never comes.
func After(start *metav1.Time, seconds *int64, now time.Time) Timer {
	if start == nil || seconds == nil {
		return Timer{}
	}
	left := End(*start, *seconds).Sub(now)
	return Timer{Due: left <= 0, Left: max(left, 0)}
}

// Deadline returns the timer of activeDeadlineSeconds, which runs from the start.
func Deadline(started *metav1.Time, activeDeadlineSeconds *int64, now time.Time) Timer {
	return After(started, activeDeadlineSeconds, now)
}

// Expiry returns the timer of ttlSecondsAfterFinished, which runs from the end.
func Expiry(ended *metav1.Time, ttlSecondsAfterFinished *int32, now time.Time) Timer {
	if ttlSecondsAfterFinished == nil {
		return Timer{}
	}
	seconds := int64(*ttlSecondsAfterFinished)
	return After(ended, &seconds, now)
}

// Soonest returns the shortest of some times of which 0 is never, as for a plan's RequeueAfter.
func Soonest(times ...time.Duration) time.Duration {
	var soonest time.Duration
	for _, t := range times {
		if t > 0 && (soonest == 0 || t < soonest) {
			soonest = t
		}
	}
	return soonest
}
