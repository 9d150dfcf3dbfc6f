package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestChildIgnoringMore(t *testing.T) {
	c := Child{Object: deployment("web"), Options: &Options{Ignored: append(make([]string, 0, 4), "spec.replicas")}, Phase: "a"}.HashedOnce()
	hash, _ := c.Hash()
	more, other := c.ignoring([]string{"spec.paused"}), c.ignoring([]string{"spec.revisionHistoryLimit"})
	assert.Equal(t, []string{"spec.replicas"}, c.Options.Ignored, "it stays as it is")
	assert.Equal(t, []string{"spec.replicas", "spec.paused"}, more.Options.Ignored)
	assert.Equal(t, []string{"spec.replicas", "spec.revisionHistoryLimit"}, other.Options.Ignored)
	assert.Equal(t, "a", more.Phase)
	changed, _ := more.Hash()
	assert.NotEqual(t, hash, changed)
	same, _ := Child{Object: deployment("web"), Options: &Options{Ignored: []string{"spec.replicas"}}}.ignoring(nil).Hash()
	assert.Equal(t, hash, same)
	plain := Child{Object: deployment("web")}
	assert.Equal(t, []string{"spec.paused"}, plain.ignoring([]string{"spec.paused"}).Options.Ignored)
	assert.Nil(t, plain.Options)
}
