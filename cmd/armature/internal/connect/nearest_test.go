package connect

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDidYouMean(t *testing.T) {
	names := []string{"nightly", "weekly", "a", "build-images"}
	for name, want := range map[string]string{
		"nihgtly": "; did you mean jf/nightly?", "nightl": "; did you mean jf/nightly?", "weekli": "; did you mean jf/weekly?",
		"build-image": "; did you mean jf/build-images?", "other": "", "": "", "nightly": "", "b": "", "ab": "; did you mean jf/a?",
	} {
		assert.Equal(t, want, DidYouMean(name, "jf/", names), name)
	}
	assert.Empty(t, DidYouMean("x", "", nil))
}
