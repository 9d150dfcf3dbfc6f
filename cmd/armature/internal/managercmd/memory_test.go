package managercmd

import (
	"errors"
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	t.Setenv("AUTOMEMLIMIT", "0.9")

	limitMemory(memlimit.Limit(1<<30), logr.Discard())
	assert.EqualValues(t, (1<<30)*9/10, debug.SetMemoryLimit(-1))

	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(func() (uint64, error) { return 0, memlimit.ErrNoLimit }, logr.Discard())
	assert.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1), "there is none")

	var said string
	logger := funcr.New(func(_, line string) { said += line }, funcr.Options{})
	limitMemory(func() (uint64, error) { return 0, errors.New("unreadable") }, logger)
	assert.Contains(t, said, "unreadable")
	assert.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1))

	t.Setenv("GOMEMLIMIT", "1GiB")
	limitMemory(memlimit.Limit(1<<20), logr.Discard())
	assert.EqualValues(t, math.MaxInt64, debug.SetMemoryLimit(-1), "the runtime has read the environment before")
}
