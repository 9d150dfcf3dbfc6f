package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/rollout"
)

func TestRollbackBesideAChildCrossNamespace(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	require.NoError(t, w.e.client.Create(t.Context(), owner()))
	w.change = func(b *Builder) {
		b.Object(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reads-nodes"}}, CrossNamespace())
	}
	w.install()
	w.want("v2")
	w.pass()
	w.now = w.now.Add(patience)
	w.pass()
	res := w.pass()
	assert.Equal(t, rollout.RolledBack, res.Rollout.State)
	assert.Equal(t, "v1 v1 v1", w.running())
	w.pass()
	assert.Empty(t, w.writes)
}
