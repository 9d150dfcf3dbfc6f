package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
)

// What is left to others has its first value also when a child comes back as it was in the last completed revision; and
// a change that is held, or rolled back, leaves it alone.
func TestWhatIsIgnoredInARevision(t *testing.T) {
	for name, restart := range map[string]bool{"": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			w := newPhasedWorld(t)
			w.replicas, w.each = 3, []builder.ChildOption{builder.Ignore("spec.replicas")}
			w.install()
			server := w.get("server")
			server.Spec.Replicas = new(int32(7))
			w.update(server)
			w.desire("v2")
			w.pass()
			require.Equal(t, "v2 v1 v1", w.deployed())
			w.delete(w.get("broker"))
			if restart {
				w.restart()
			}
			w.pass()
			assert.Equal(t, "v2 v1 v1", w.deployed())
			assert.EqualValues(t, 3, *w.get("broker").Spec.Replicas, "as it was made at first")
			assert.EqualValues(t, 7, *w.get("server").Spec.Replicas)
			w.pass()
			assert.Empty(t, w.writes)

			w.options = rollout.Options{RollbackAfter: patience}
			w.pass()
			w.step(patience)
			w.pass()
			w.delete(w.get("controller"))
			w.pass()
			w.pass()
			assert.Equal(t, "v1 v1 v1", w.deployed())
			assert.EqualValues(t, 3, *w.get("controller").Spec.Replicas)
			assert.EqualValues(t, 7, *w.get("server").Spec.Replicas)
		})
	}
}
