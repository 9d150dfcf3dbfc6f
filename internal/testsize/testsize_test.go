package testsize

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPick(t *testing.T) {
	t.Setenv(Env, "")
	assert.False(t, Long())
	assert.Equal(t, 20, Pick(20, 500))

	t.Setenv(Env, "1")
	assert.True(t, Long())
	assert.Equal(t, 500, Pick(20, 500))
}
