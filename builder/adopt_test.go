package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheLastAdoptCounts(t *testing.T) {
	c := Want(config("c"), Adopt(AdoptOptions{}), Adopt(AdoptOptions{OwnedOnly: true}))
	assert.False(t, c.desired.Options.AdoptOrphan)
	c = Want(config("c"), Adopt(AdoptOptions{OwnedOnly: true}), Adopt(AdoptOptions{Labels: map[string]string{"job": "a"}}))
	assert.True(t, c.desired.Options.AdoptOrphan)
	assert.Equal(t, map[string]string{"job": "a"}, c.desired.Options.AdoptLabels)
}
