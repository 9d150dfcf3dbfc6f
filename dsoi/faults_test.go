package dsoi

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
)

// There is nothing to roll back to when the first install crashes: it is told of, and goes on when it is mended.
func TestACrashOfTheFirstInstall(t *testing.T) {
	s := perform(t, threeTypes("v1", "bad", "v1")+"onFailure: Rollback\nupgradeTimeout: 5m\n")
	s.pass()
	s.rollOut("t-store")
	s.pass()
	s.step(time.Hour)
	s.pass()
	assert.Equal(t, "v1 bad v1", s.images())
	assert.Equal(t, v1beta1.ClusterInstalling, s.town().Status.Phase)
	assert.Equal(t, v1beta1.NodeTypeFailed, s.town().Status.NodeTypes[1].State)
	assert.Contains(t, s.condition(events.ConditionReady).Message, "node store: pod t-store-0: container store: CrashLoopBackOff")
	assert.Equal(t, metav1.ConditionTrue, s.condition(events.ConditionStalled).Status)

	s.describe(threeTypes("v1", "v2", "v1"))
	s.pass()
	assert.Equal(t, "v1 v2 v1", s.images())
	s.settle()
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
	assert.Nil(t, s.town().Status.Upgrade, "it was installed, not upgraded")
}

// What crashes without an upgrade is told of, and nothing is changed.
func TestACrashWithoutAnUpgrade(t *testing.T) {
	s := installed(t)
	require.NoError(t, s.cluster.Script("t-store-0", exitsAtOnce))
	s.rollOut()
	s.pass()
	assert.Empty(t, s.pass())
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
	assert.Equal(t, metav1.ConditionFalse, s.condition(events.ConditionReady).Status)
	assert.Contains(t, s.condition(events.ConditionReady).Message, "node store: pod t-store-0")

	require.NoError(t, s.cluster.Script("t-store-0", world.Script{}))
	s.step(time.Minute) // until its container starts again
	s.rollOut()
	s.step(time.Minute) // until it counts as up
	s.settle()
	assert.Equal(t, metav1.ConditionTrue, s.condition(events.ConditionReady).Status)
}

// The cluster t with the node x-y, and the cluster t-x with the node y, would have objects of the same names.
func TestNodesOfTwoClustersWithOneName(t *testing.T) {
	other := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-store"}}
	other.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	other.Spec.Template.Labels = other.Spec.Selector.MatchLabels
	other.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "theirs"}}
	s := perform(t, threeTypes("v1", "v1", "v1"), other)
	for range 3 {
		_, err := s.reconciler.Reconcile(t.Context(), townRequest)
		assert.Error(t, err)
	}
	assert.Equal(t, "v1 theirs v1", s.images(), "it is left alone")
	c := s.condition(events.ConditionReady)
	assert.Equal(t, "NotOwned", c.Reason)
	assert.Contains(t, c.Message, "StatefulSet.apps default/t-store")
}

// What a claim is made from can't be changed afterwards. That is said, and no other node type is touched.
func TestStorageThatCannotBeChanged(t *testing.T) {
	s := installed(t)
	before := s.set("t-store")
	s.describe(strings.Replace(threeTypes("v2", "v2", "v2"), "ReadWriteOnce", "ReadWriteMany", 1))
	s.pass()
	s.rollOut("t-control")
	for range 3 {
		_, err := s.reconciler.Reconcile(t.Context(), townRequest)
		assert.Error(t, err)
	}
	assert.Equal(t, "v2 v1 v1", s.images())
	assert.Equal(t, before.UID, get(s, before).UID, "nothing is deleted")
	c := s.condition(events.ConditionReady)
	assert.Equal(t, "ApplyFailed", c.Reason)
	assert.Contains(t, c.Message, "volumeClaimTemplates")

	s.describe(threeTypes("v2", "v2", "v2"))
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
}

// What was rolled back is not tried again because something else of the spec has changed that changes no node.
func TestARollbackIsFinalUntilTheNodesChange(t *testing.T) {
	bad := threeTypes("v1", "bad", "v1")
	s := installed(t)
	s.describe(bad + "onFailure: Rollback\nupgradeTimeout: 5m\n")
	s.pass()
	s.rollOut("t-store")
	s.pass()
	s.step(6 * time.Minute)
	s.pass()
	s.settle()
	require.Equal(t, v1beta1.ClusterRolledBack, s.town().Status.Phase)
	s.describe(bad + "onFailure: Rollback\nupgradeTimeout: 1h\n")
	s.settle()
	assert.Equal(t, "v1 v1 v1", s.images())
	assert.Equal(t, v1beta1.ClusterRolledBack, s.town().Status.Phase)
	s.describe(threeTypes("v1", "v1", "v1"))
	s.settle()
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
	s.describe(bad)
	s.pass()
	assert.Equal(t, "v1 bad v1", s.images(), "now it is tried again")
}
