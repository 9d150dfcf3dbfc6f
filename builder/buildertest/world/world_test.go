package world_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/armature-dev/armature/builder/buildertest/world"
)

// run returns the calls of a world in which four pods of a Job fail once, then succeed.
func run(t *testing.T, seed uint64) string {
	t.Helper()
	w := newWorld(t, world.Options{Seed: seed}, node("n1"), node("n2"),
		job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(4)), new(int32(2)) }))
	require.NoError(t, w.Script("*", world.Script{Ends: true, Run: time.Minute}))
	require.NoError(t, w.Script("demo-[12]", world.Script{Ends: true, ExitCode: 1}))
	require.NoError(t, w.Idle(t.Context(), time.Hour))
	return w.Server().Ledger().String()
}

func TestARunDependsOnItsSeedOnly(t *testing.T) {
	assert.Equal(t, run(t, 0), run(t, 0))
	assert.Equal(t, run(t, 7), run(t, 7))
	assert.NotEqual(t, run(t, 7), run(t, 8))
	assert.Len(t, strings.Split(run(t, 7), "\n"), len(strings.Split(run(t, 8), "\n")))
}

func TestStepsAreSingleWrites(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), job(func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = new(int32(2)), new(int32(2)) }))
	steps, err := w.Steps()
	require.NoError(t, err)
	require.Len(t, steps, 2)
	assert.Equal(t, "job-controller: create Pod default/demo-1", steps[0].String())
	assert.Equal(t, "job-controller: create Pod default/demo-2", steps[1].String())
	require.NoError(t, steps[1].Run(t.Context()))
	require.NoError(t, steps[1].Run(t.Context()), "an obsolete step does nothing")
	again, err := w.Steps()
	require.NoError(t, err)
	assert.Len(t, again, 2)
	assert.Equal(t, "scheduler: bind Pod default/demo-2", again[0].String())
	assert.Equal(t, "job-controller: create Pod default/demo-3", again[1].String())
}

func TestWhatIsNotSimulatedIsAnError(t *testing.T) {
	w := newWorld(t, world.Options{}, node("n1"), job(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = new(int32(1)) }))
	_, err := w.Steps()
	require.EqualError(t, err, "Job default/demo: spec.backoffLimitPerIndex isn't simulated; use backoffLimit")
	require.Error(t, w.Settle(t.Context()))
	require.Error(t, w.Wait(t.Context(), -time.Second))
	require.Error(t, w.Script("[", world.Script{}))
}
