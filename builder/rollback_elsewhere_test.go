package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
)

func TestRollbackBesideAChildCrossNamespace(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.more = func(b *builder.Builder) {
		b.Object(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "reads-nodes"}}, builder.CrossNamespace())
	}
	w.install()
	w.desire("v2")
	w.pass()
	w.step(patience)
	w.pass()
	res := w.pass()
	assert.Equal(t, rollout.RolledBack, res.Rollout.State)
	assert.Equal(t, "v1 v1 v1", w.deployed())
	w.pass()
	assert.Empty(t, w.writes)
}
