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
	"github.com/armature-dev/armature/events"
)

func scalingOf(nodes ...string) *TownScaling {
	o := &TownScaling{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t"}}
	for _, n := range nodes {
		o.Spec.Autoscaling = append(o.Spec.Autoscaling, v1beta1.NodeScaling{Name: n, Spec: &v1beta1.ReplicaScaling{}})
	}
	return o
}

func (s *stage) scale(name string, n int32) {
	s.Helper()
	set := s.set(name)
	set.Spec.Replicas = new(n)
	require.NoError(s, s.others.Update(s.Context(), set))
}

func (s *stage) replicas(name string) int32 {
	s.Helper()
	return *s.set(name).Spec.Replicas
}

// That a Scaling comes or goes changes no pod: it is no upgrade.
func TestAScalingIsNoUpgrade(t *testing.T) {
	s := installed(t)
	first := s.town().Status
	scaling := scalingOf("store")
	require.NoError(t, s.others.Create(t.Context(), scaling))
	s.settle()
	assert.EqualValues(t, 2, s.replicas("t-store"), "the number that it had")
	assert.Equal(t, first.Revision, s.town().Status.Revision)
	assert.Nil(t, s.town().Status.Upgrade)
	require.NoError(t, s.others.Delete(t.Context(), scaling))
	s.settle()
	assert.Equal(t, first.Revision, s.town().Status.Revision)
	assert.Nil(t, s.town().Status.Upgrade)
}

// A node is scaled at once, also while an upgrade is at an earlier node type.
func TestScaledWhileAnUpgradeIsElsewhere(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	require.Equal(t, "v2 v1 v1", s.images())
	require.NoError(t, s.others.Create(t.Context(), scalingOf("gate")))
	s.pass()
	s.scale("t-gate", 5)
	s.pass()
	s.pass()
	assert.EqualValues(t, 5, s.replicas("t-gate"))
	assert.Equal(t, "v2 v1 v1", s.images())
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
	assert.EqualValues(t, 5, s.replicas("t-gate"))
}

// What is scaled stays so when an upgrade is rolled back.
func TestScaledAndRolledBack(t *testing.T) {
	s := installed(t)
	require.NoError(t, s.others.Create(t.Context(), scalingOf("gate")))
	s.settle()
	s.describe(threeTypes("v2", "bad", "v2") + "onFailure: Rollback\nupgradeTimeout: 5m\n")
	s.pass()
	s.rollOut("t-control")
	s.pass()
	s.scale("t-gate", 5)
	s.rollOut("t-store")
	s.pass()
	s.step(6 * time.Minute)
	s.pass()
	s.settle()
	assert.Equal(t, "v1 v1 v1", s.images())
	assert.EqualValues(t, 5, s.replicas("t-gate"))
}

// A new number is no upgrade either, and waits for its turn: nothing is ready before the pods are there.
func TestANewNumberOfPods(t *testing.T) {
	replicas := func(spec, of string) string {
		return strings.Replace(spec, "nodeType: "+of+", ", "nodeType: "+of+", replicas: 3, ", 1)
	}
	s := installed(t)
	s.describe(replicas(replicas(threeTypes("v1", "v1", "v1"), "control"), "gate"))
	s.pass()
	assert.EqualValues(t, 3, s.replicas("t-control"))
	assert.EqualValues(t, 1, s.replicas("t-gate"), "it isn't its turn")
	assert.EqualValues(t, 3, s.town().Status.NodeTypes[0].Desired)
	assert.Equal(t, metav1.ConditionFalse, s.condition(events.ConditionReady).Status, "who waits for the pods isn't told that they are there")
	assert.Contains(t, s.condition(events.ConditionReady).Message, "node control: 1 replicas; 3 are described")
	s.settle()
	assert.EqualValues(t, 3, s.replicas("t-gate"))
	assert.Nil(t, s.town().Status.Upgrade)

	// With a halted upgrade before it, a later type is left as it is in this as well.
	s.describe(replicas(replicas(threeTypes("v1", "bad", "v1"), "control"), "gate"))
	s.pass()
	s.rollOut("t-store")
	s.pass()
	s.describe(threeTypes("v1", "bad", "v1"))
	s.pass()
	s.pass()
	assert.EqualValues(t, 1, s.replicas("t-control"), "what comes before it isn't kept waiting")
	assert.EqualValues(t, 3, s.replicas("t-gate"))
}

// After a rollback no node type has a turn. A new number of pods doesn't wait for one: it would keep the rollback from its end.
func TestANewNumberOfPodsAfterARollback(t *testing.T) {
	bad := strings.NewReplacer("[control, store, gate]", "[control, extra, store, gate]", "nodeType: gate, ", "nodeType: gate, replicas: 3, ").
		Replace(threeTypes("v1", "bad", "v1")) + "- {name: extra, nodeType: extra, k8sConfigGroup: gate}\n"
	s := installed(t)
	s.describe(bad + "onFailure: Rollback\nupgradeTimeout: 5m\n")
	s.pass()
	extra := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-extra"}}
	require.True(t, s.exists(extra))
	s.rollOut("t-extra")
	s.pass()
	require.Equal(t, "v1 bad v1", s.images())
	s.rollOut("t-store")
	s.pass()
	s.step(6 * time.Minute)
	s.pass()
	s.settle()
	assert.Equal(t, v1beta1.ClusterRolledBack, s.town().Status.Phase)
	assert.Equal(t, "v1 v1 v1", s.images())
	assert.EqualValues(t, 3, s.replicas("t-gate"))
	assert.False(t, s.exists(extra), "what only the failed revision had")

	s.describe(strings.Replace(bad, "replicas: 3", "replicas: 4", 1) + "onFailure: Rollback\nupgradeTimeout: 5m\n")
	s.settle()
	assert.EqualValues(t, 4, s.replicas("t-gate"))
	assert.Equal(t, v1beta1.ClusterRolledBack, s.town().Status.Phase)
}

// During the first install there is no order in this either.
func TestANewNumberOfPodsDuringTheInstall(t *testing.T) {
	s := perform(t, threeTypes("v1", "v1", "v1"))
	s.pass()
	s.describe(strings.Replace(threeTypes("v1", "v1", "v1"), "nodeType: gate, ", "nodeType: gate, replicas: 4, ", 1))
	s.pass()
	assert.EqualValues(t, 4, s.replicas("t-gate"))
}

// A workload that someone deletes comes back with the pods that are described, also one whose change is held.
func TestADeletedWorkloadComesBackWithItsPods(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "v2", "v2"))
	s.pass()
	require.NoError(t, s.others.Delete(t.Context(), s.set("t-store")))
	s.pass()
	assert.Equal(t, "v2 v1 v1", s.images())
	assert.EqualValues(t, 2, s.replicas("t-store"), "at once")
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
}

func TestReplicasOfWhatIsScaledAreLeftAlone(t *testing.T) {
	scaling := scalingOf("store")
	s := perform(t, threeTypes("v1", "v1", "v1"), scaling)
	s.settle()
	assert.EqualValues(t, 2, s.replicas("t-store"), "the number to begin with")
	s.scale("t-store", 5)
	s.scale("t-gate", 5)
	s.settle()
	assert.EqualValues(t, 5, s.replicas("t-store"))
	assert.EqualValues(t, 1, s.replicas("t-gate"), "it isn't scaled")
	assert.EqualValues(t, 5, s.town().Status.NodeTypes[1].Desired)
	s.describe(threeTypes("v1", "v2", "v1"))
	s.settle()
	assert.EqualValues(t, 5, s.replicas("t-store"), "nor does an upgrade change it")

	require.NoError(t, s.others.Delete(t.Context(), scaling))
	s.settle()
	assert.EqualValues(t, 2, s.replicas("t-store"), "without a scaling the spec's number counts")
}
