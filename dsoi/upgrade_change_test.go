package dsoi

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// An upgrade that is begun during another starts at the first type; what the first one has changed further on stays as
// it is until it is its turn.
func TestAnUpgradeDuringAnUpgrade(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	s.rollOut("t-control")
	s.pass()
	require.Equal(t, "v2 v2 v1", s.images())
	s.describe(threeTypes("v3", "v3", "v3"))
	s.pass()
	assert.Equal(t, "v3 v2 v1", s.images())
	s.rollOut("t-store", "t-gate")
	s.pass()
	assert.Equal(t, "v3 v2 v1", s.images(), "the first type is not ready yet")
	s.settle()
	assert.Equal(t, "v3 v3 v3", s.images())
}

// An upgrade that is taken back in the spec is no longer under way.
func TestAnUpgradeThatIsTakenBack(t *testing.T) {
	s := installed(t)
	first := s.town().Status.Revision
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	s.rollOut("t-control")
	s.pass()
	require.Equal(t, "v2 v2 v1", s.images())
	s.step(time.Minute)
	s.describe(threeTypes("v1", "v1", "v1"))
	s.settle()
	assert.Equal(t, "v1 v1 v1", s.images())
	status := s.town().Status
	assert.Equal(t, v1beta1.ClusterRunning, status.Phase)
	assert.Equal(t, first, status.Revision)
	assert.NotEqual(t, first, status.Upgrade.ToRevision)
	assert.Equal(t, "1m0s", status.Upgrade.Duration)

	s.step(time.Minute)
	s.describe(threeTypes("v3", "v3", "v3"))
	s.settle()
	last := s.town().Status.Upgrade
	assert.Equal(t, s.town().Status.Revision, last.ToRevision)
	s.step(time.Minute)
	s.describe(threeTypes("v4", "v4", "v4"))
	s.pass()
	assert.NotEqual(t, last.ToRevision, s.town().Status.Upgrade.ToRevision)
	s.describe(threeTypes("v3", "v3", "v3"))
	s.settle()
	assert.True(t, last.StartedAt.Before(&s.town().Status.Upgrade.StartedAt), "it was the last one, if in vain")
}

// A node type that is added during an upgrade is created when it is its turn.
func TestANodeTypeAddedDuringAnUpgrade(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	with := strings.Replace(threeTypes("v2", "v2", "v2"), "[control, store, gate]", "[control, store, cache, gate]", 1) +
		"- {name: cache, nodeType: cache, k8sConfigGroup: gate}\n"
	s.describe(with)
	s.pass()
	cache := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-cache"}}
	assert.False(t, s.exists(cache))
	s.rollOut("t-control")
	s.pass()
	assert.Equal(t, "v2 v2 v1", s.images())
	assert.False(t, s.exists(cache))
	s.rollOut("t-store")
	s.pass()
	assert.True(t, s.exists(cache))
	assert.Equal(t, "v2 v2 v1", s.images(), "it must be ready before the next")
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
	assert.Len(t, s.town().Status.NodeTypes, 4)
}

// The order may be changed at any time; from then on the new one holds. By itself it upgrades nothing.
func TestTheOrderChangedDuringAnUpgrade(t *testing.T) {
	s := installed(t)
	other := func(spec string) string {
		return strings.Replace(spec, "[control, store, gate]", "[control, gate, store]", 1)
	}
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	require.Equal(t, "v2 v1 v1", s.images())
	s.describe(other(threeTypes("v2", "v2", "v2")))
	s.rollOut("t-control")
	s.pass()
	assert.Equal(t, "v2 v1 v2", s.images(), "the gate comes before the store now")
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
	upgrade := s.town().Status.Upgrade
	s.describe(threeTypes("v2", "v2", "v2"))
	assert.Empty(t, s.pass())
	s.pass()
	assert.Equal(t, upgrade, s.town().Status.Upgrade)
}

func TestInvalidDuringAnUpgrade(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	s.describe(strings.Replace(threeTypes("v2", "v2", "v2"), "k8sConfigGroup: gate}", "k8sConfigGroup: gaet}", 1))
	s.rollOut("t-control")
	assert.Empty(t, s.pass())
	assert.Equal(t, "v2 v1 v1", s.images())
	assert.Equal(t, v1beta1.ClusterInvalid, s.town().Status.Phase)
	s.describe(threeTypes("v2", "v2", "v2"))
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
}
