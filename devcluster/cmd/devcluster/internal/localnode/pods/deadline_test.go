package pods

import (
	"testing"
	"testing/synctest"
	"time"

	testclock "k8s.io/utils/clock/testing"
)

// leaping is a clock that is set forward between a look at it and the start of a timer.
type leaping struct {
	*testclock.FakeClock
}

func (c leaping) After(d time.Duration) <-chan time.Time {
	c.Step(time.Hour)
	return c.FakeClock.After(d)
}

func TestDeadlineThatPassesWhileItsTimerStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if after(leaping{testclock.NewFakeClock(time.Now())}, time.Minute).wait(nil) {
			t.Error("it waited for what is never done")
		}
	})
}
