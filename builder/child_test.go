package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnImmutableChildIsHashedOnce(t *testing.T) {
	d := deployment("web")
	c := Want(d, InPhase("a")).Immutable()
	first, ok := c.desired.Hash()
	assert.True(t, ok)
	d.Spec.Paused = true
	again, _ := c.desired.Hash()
	assert.Equal(t, first, again, "as it was promised")
	thawed, _ := Want(d, InPhase("a")).desired.Hash()
	assert.NotEqual(t, first, thawed)
}

func TestAnOptionThatIsNilHasNoEffect(t *testing.T) {
	var none ChildOption
	assert.Equal(t, "a", Want(deployment("web"), none, InPhase("a")).desired.Phase)
}
