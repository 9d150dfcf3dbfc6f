package uiserver

import "time"

// reminderPace is when an object that doesn't change is explained again: quiet after a change, and then at intervals of again. It is that
// of "armature watch".
type reminderPace struct {
	quiet, again time.Duration
}

var defaultPace = reminderPace{quiet: 10 * time.Second, again: 30 * time.Second}

// reminder wakes a stream to explain an object again that doesn't change, because an explanation depends on the time, too: without a
// manager, nothing ever changes.
type reminder struct {
	pace  reminderPace
	timer *time.Timer
	at    time.Time
}

func newReminder(pace reminderPace, wake chan<- struct{}) *reminder {
	r := &reminder{pace: pace, at: time.Now().Add(pace.quiet)}
	r.timer = time.AfterFunc(pace.quiet, func() {
		select {
		case wake <- struct{}{}:
		default: // the stream will wake anyway
		}
	})
	return r
}

// changed postpones the next reminder after a change.
func (r *reminder) changed() { r.set(r.pace.quiet) }

// isDue reports whether it is time to explain again, and sets the next reminder if it is.
func (r *reminder) isDue() bool {
	if time.Now().Before(r.at) {
		return false
	}
	r.set(r.pace.again)
	return true
}

func (r *reminder) set(after time.Duration) {
	r.at = time.Now().Add(after)
	r.timer.Reset(after)
}

func (r *reminder) stop() { r.timer.Stop() }
