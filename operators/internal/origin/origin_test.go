package origin

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADigestStaysTheSameInEachRelease(t *testing.T) {
	assert.Equal(t, "db4a7ecb114bc66c", Digest(map[string]string{"a": "b"}))
	assert.NotEqual(t, Digest(map[string]string{"a": "b"}), Digest(map[string]string{"a": "c"}))
}

func TestTheNumberOfALabel(t *testing.T) {
	set := map[string]string{"three": "3", "negative": "-1", "text": "x", "large": "2147483648"}
	for key, want := range map[string]int32{"three": 3, "negative": 0, "text": 0, "large": 0, "missing": 0} {
		assert.Equal(t, want, Number(set, key), key)
	}
	assert.Zero(t, Number(nil, "missing"))
}
