package containernode

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestTooFewWatchersAreNamedBeforeAnythingIsMade(t *testing.T) {
	opened := 0
	three := func(flags int) (int, error) {
		if opened == 3 {
			return -1, unix.EMFILE
		}
		opened++
		return unix.InotifyInit1(flags)
	}
	err := checkWatchers(4, three)
	require.ErrorIs(t, err, unix.EMFILE)
	assert.ErrorContains(t, err, "only 3 of the 4 inotify instances")
	assert.ErrorContains(t, err, "fs.inotify.max_user_instances")
	assert.NoError(t, checkWatchers(4, unix.InotifyInit1))
}
