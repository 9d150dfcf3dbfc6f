package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/builder/rollout"
)

// scaled is a town whose Deployments begin with three replicas, which are then left to others.
func scaled(t *testing.T) *town {
	w := newTown(t)
	w.change = func(b *Builder) {
		for i := range b.children {
			d := deployment(b.children[i].child.Object.GetName())
			d.Spec.Template.Spec.Containers[0].Image = w.images[d.Name]
			d.Spec.Replicas = ptr.To[int32](3)
			b.children[i] = Want(d, InPhase(b.children[i].child.Phase), Ignore("spec.replicas"))
		}
	}
	w.install()
	return w
}

func (w *town) scale(name string, n int32) {
	d := w.get(name)
	d.Spec.Replicas = &n
	require.NoError(w.t, w.e.client.Update(w.t.Context(), d))
}

// What is left to others has its first value also when a child comes back as it was in the last completed revision; and
// a change that is held, or rolled back, leaves it alone.
func TestWhatIsIgnoredInARevision(t *testing.T) {
	for name, restart := range map[string]bool{"": false, "after a restart": true} {
		t.Run(name, func(t *testing.T) {
			w := scaled(t)
			w.scale("server", 7)
			w.want("v2")
			w.pass()
			require.Equal(t, "v2 v1 v1", w.running())
			require.NoError(t, w.e.client.Delete(t.Context(), w.get("broker")))
			if restart {
				w.restart(w.e.client)
			}
			w.pass()
			assert.Equal(t, "v2 v1 v1", w.running())
			assert.EqualValues(t, 3, *w.get("broker").Spec.Replicas, "as it was made at first")
			assert.EqualValues(t, 7, *w.get("server").Spec.Replicas)
			w.pass()
			assert.Empty(t, w.writes)

			w.options = rollout.Options{RollbackAfter: patience}
			w.pass()
			w.now = w.now.Add(patience)
			w.pass()
			require.NoError(t, w.e.client.Delete(t.Context(), w.get("controller")))
			w.pass()
			w.pass()
			assert.Equal(t, "v1 v1 v1", w.running())
			assert.EqualValues(t, 3, *w.get("controller").Spec.Replicas)
			assert.EqualValues(t, 7, *w.get("server").Spec.Replicas)
		})
	}
}
