//go:build e2e

package e2e

import (
	"cmp"
	"flag"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/test/e2e/soakplan"
)

var (
	soakSeed = flag.Uint64("e2e.seed", fromEnv("E2E_SEED", func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }, 0),
		"seed of the soak; 0: a new one (environment: E2E_SEED)")
	soakTime = flag.Duration("e2e.soak", fromEnv("E2E_SOAK", time.ParseDuration, 4*time.Minute), "how long the soak is (environment: E2E_SOAK)")
)

func fromEnv[T any](name string, parse func(string) (T, error), otherwise T) T {
	if value, err := parse(os.Getenv(name)); err == nil {
		return value
	}
	return otherwise
}

// The soak: random objects, users and faults, from a seed, and in the end each object is as the plan says, the history
// keeps the invariants, and the manager is as small and as quiet as before.
//
// It has two parts. In the storm everything may fail, managers too. In the calm one manager lives through wave after wave
// of the same load, with faults that don't end it, so that its memory and goroutines after the first waves can be compared
// with those after the last: see soak_flat_test.go.
//
// The same seed gives the same objects, users and faults at the same times. Which pod or Job a fault hits, and how far each
// object has come by then, depends on the machine, so a failure may need several runs to come back.
func TestSoak(t *testing.T) {
	seed := cmp.Or(*soakSeed, uint64(time.Now().UnixNano())%1e6)
	script := soakplan.New(seed, *soakTime)
	t.Logf("the soak's seed is %d: to run it again, E2E_SEED=%d E2E_SOAK=%s", seed, seed, *soakTime)
	s := newSoak(t, script)
	began := time.Now()

	s.wave("before", false) // what a manager starts when it first needs it, such as caches, is there then
	first := s.measure()
	s.storm()
	s.awaitEnds(script.Objects)
	s.awaitQuiet()
	s.awaitNothingOrphaned()
	s.deleteAll(script.Objects)
	s.calm(began.Add(*soakTime), first)
	s.checkHistory()
	if t.Failed() {
		t.Logf("the soak's seed was %d", seed)
		return
	}
	require.Less(t, time.Since(began), *soakTime+20*time.Minute)
}
