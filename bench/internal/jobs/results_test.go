package jobs

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPercentile(t *testing.T) {
	assert.Zero(t, percentile(nil, 50))
	times := []float64{5, 1, 4, 2, 3}
	assert.InDelta(t, 3, percentile(times, 50), 0)
	assert.InDelta(t, 5, percentile(times, 99), 0)
	assert.InDelta(t, 1, percentile(times, 0), 0)
}
