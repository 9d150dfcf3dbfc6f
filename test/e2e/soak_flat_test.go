//go:build e2e

package e2e

import (
	"fmt"
	"strconv"
	"time"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/test/e2e/soakplan"
)

// What counts as flat. A manager that has seen a whole wave of objects and faults is compared with itself after some more
// waves of the same load, both times quiet, with all objects deleted, and after a garbage collection. So what it makes once
// doesn't count, and what each object leaves behind does: a wave has some 50 Jobs, pods and owners. At most so much more may
// be there:
const (
	// Goroutines that come and go by themselves are those of connections. The API server keeps one for each of the six
	// webhooks to whichever manager it asked first, so that they gather at the leader one by one; and watches are begun anew.
	moreGoroutines = 24
	// The heap in use, which differs by itself: client-go remembers each event for 6 to 12 minutes, in case it becomes a series, and
	// a new connection has its buffers. And what a wave may leave there for good: 2 KiB for each of its objects.
	moreHeap, moreHeapOfWave = 2 << 20, 100 << 10
	// leastWaves is how many waves come between the measurements.
	leastWaves = 3
)

// calm repeats a wave of objects until the time is over, and compares the manager after the first wave with the same manager
// after the last. If the leader has changed meanwhile, which an API server that is away for long can bring about, the
// comparison begins anew with the next one. So the API server is killed before the first measurement only.
func (s *soak) calm(until time.Time, first reading) {
	s.Helper()
	s.wave("0", false)
	before := s.measure()
	waves, restarts := 0, 0
	for number := 1; waves < leastWaves || time.Now().Before(until); number++ {
		s.wave(strconv.Itoa(number), true)
		waves++
		if now, err := s.scraper.read(); err == nil && now.process != before.process {
			s.Logf("the leader was %s and is %s", before.process, now.process)
			before, waves, restarts = s.measure(), 0, restarts+1
			if !assert.LessOrEqual(s, restarts, 3, "leaders don't stay, although nobody ends them") {
				return
			}
		}
	}
	after := s.measure()
	s.Logf("after %d waves of %d objects", waves, len(s.script.Wave))
	if !assert.Equal(s, before.process, after.process, "the leader has changed while nothing happened") {
		return
	}
	assert.LessOrEqual(s, after.goroutines, before.goroutines+moreGoroutines, "goroutines aren't flat: %s, then %s", before, after)
	assert.LessOrEqual(s, after.goroutines, first.goroutines+2*moreGoroutines, "goroutines aren't what they were before the storm: %s, then %s", first, after)
	assert.LessOrEqual(s, after.live, before.live+moreHeap+float64(waves)*moreHeapOfWave, "the heap isn't flat: %s, then %s", before, after)
	assert.LessOrEqual(s, after.resident, 1.25*before.resident+16<<20, "the memory isn't flat: %s, then %s", before, after)
}

// kubeAPIServer is the component without which a manager gives up the lease after its renew deadline, on a slow machine.
const kubeAPIServer = "kube-apiserver"

// wave makes a load, disturbs it, waits for its end, and deletes it. A mild one leaves the API server alone.
func (s *soak) wave(number string, mild bool) {
	s.Helper()
	began := time.Now()
	var objects []*soakplan.Object
	for _, o := range s.script.Wave {
		o := &soakplan.Object{Story: o.Story, Made: o.Made.DeepCopyObject().(client.Object), Final: o.Final, Expect: o.Expect}
		if o.Kind() != "FluxSetup" {
			o.Made.SetName(fmt.Sprintf("%s-%s", o.Made.GetName(), number))
		}
		objects = append(objects, o)
		s.create(o, o.Made.GetName())
	}
	for _, gust := range s.script.Gusts {
		if gust.Target == kubeAPIServer && mild {
			continue
		}
		s.until(began.Add(gust.At))
		s.harm(gust)
	}
	s.lasting.Wait()
	s.awaitEnds(objects)
	s.deleteAll(objects)
	s.Logf("wave %s: %s", number, time.Since(began).Round(time.Second))
}
