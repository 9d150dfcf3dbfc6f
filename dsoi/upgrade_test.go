package dsoi

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/events"
)

// threeTypes are three StatefulSets: control, then store, then gate. An image says which version a type has.
func threeTypes(control, store, gate string) string {
	return strings.NewReplacer("<control>", control, "<store>", store, "<gate>", gate).Replace(`
deploymentOrder: [control, store, gate]
k8sConfigGroup:
- {name: control, image: "<control>"}
- name: store
  image: "<store>"
  storageConfig: [{name: data, mountPath: /data, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
- {name: gate, image: "<gate>"}
appConfigGroup:
- {name: store, data: "for <store>"}
nodes:
- {name: control, nodeType: control, k8sConfigGroup: control}
- {name: store, nodeType: store, k8sConfigGroup: store, appConfigGroup: store, replicas: 2}
- {name: gate, nodeType: gate, k8sConfigGroup: gate}
`)
}

func (s *stage) images() string {
	s.Helper()
	return strings.Join([]string{s.image("t-control"), s.image("t-store"), s.image("t-gate")}, " ")
}

func installed(t *testing.T) *stage {
	s := perform(t, threeTypes("v1", "v1", "v1"))
	s.settle()
	require.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
	return s
}

func TestInstallIsInParallel(t *testing.T) {
	s := perform(t, threeTypes("v1", "v1", "v1"))
	assert.Len(t, workloads(s.pass()), 3)
	s.pass()
	status := s.town().Status
	assert.Equal(t, v1beta1.ClusterInstalling, status.Phase)
	assert.Empty(t, status.Revision)
	assert.Equal(t, metav1.ConditionFalse, s.condition(events.ConditionReady).Status)

	s.settle()
	status = s.town().Status
	assert.Equal(t, v1beta1.ClusterRunning, status.Phase)
	assert.NotEmpty(t, status.Revision)
	assert.Nil(t, status.Upgrade, "the first install is none")
	assert.Equal(t, s.town().Generation, status.ObservedGeneration)
	require.Len(t, status.NodeTypes, 3)
	store := status.NodeTypes[1]
	assert.Equal(t, "store", store.Name)
	assert.Equal(t, v1beta1.NodeTypeReady, store.State)
	assert.EqualValues(t, 2, store.Ready)
	assert.EqualValues(t, 2, store.Desired)
	assert.NotEmpty(t, store.Revision)
	assert.Equal(t, metav1.ConditionTrue, s.condition(events.ConditionReady).Status)
}

func TestUpgradeInOrder(t *testing.T) {
	s := installed(t)
	first := s.town().Status.Revision
	s.describe(threeTypes("v2", "v2", "v2"))
	assert.Equal(t, []string{"t-control", "t-control"}, workloads(s.pass()), "its record of fields, and it")
	s.pass()
	status := s.town().Status
	assert.Equal(t, v1beta1.ClusterUpgrading, status.Phase)
	require.NotNil(t, status.Upgrade)
	assert.Equal(t, first, status.Upgrade.FromRevision)
	assert.NotEqual(t, first, status.Upgrade.ToRevision)
	assert.Nil(t, status.Upgrade.FinishedAt)
	assert.Equal(t, []v1beta1.NodeTypeState{v1beta1.NodeTypeProgressing, v1beta1.NodeTypePending, v1beta1.NodeTypePending},
		[]v1beta1.NodeTypeState{status.NodeTypes[0].State, status.NodeTypes[1].State, status.NodeTypes[2].State})

	s.step(time.Minute)
	s.rollOut("t-control")
	s.pass()
	assert.Equal(t, "v2 v2 v1", s.images())
	s.step(time.Minute)
	s.rollOut("t-store")
	s.pass()
	assert.Equal(t, "v2 v2 v2", s.images())
	s.step(time.Minute)
	s.rollOut("t-gate")
	s.pass()
	s.pass()
	status = s.town().Status
	assert.Equal(t, v1beta1.ClusterRunning, status.Phase)
	assert.Equal(t, "3m0s", status.Upgrade.Duration)
	assert.Equal(t, first, status.Upgrade.FromRevision, "from what it was, to what it is")
	assert.Equal(t, status.Revision, status.Upgrade.ToRevision)
	assert.Equal(t, 3*time.Minute, status.Upgrade.FinishedAt.Sub(status.Upgrade.StartedAt.Time))
}

func TestOnlyWhatHasChangedIsWritten(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v1", "v2", "v1"))
	for _, w := range s.pass() {
		assert.True(t, strings.Contains(w, "t-store") || strings.Contains(w, "ControllerRevision"), w)
	}
	s.settle()
	assert.Equal(t, "v1 v2 v1", s.images())
}

func TestACrashHaltsTheUpgradeAndIsNamed(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "bad", "v2"))
	s.pass()
	s.rollOut("t-control")
	s.pass()
	s.rollOut("t-store")
	s.pass()
	s.step(time.Hour)
	assert.Empty(t, s.pass())
	assert.Equal(t, "v2 bad v1", s.images(), "later types are as they were")
	assert.Equal(t, v1beta1.ClusterHalted, s.town().Status.Phase)
	assert.Equal(t, v1beta1.NodeTypeFailed, s.town().Status.NodeTypes[1].State)
	for _, kind := range []string{events.ConditionReady, events.ConditionStalled} {
		c := s.condition(kind)
		assert.Equal(t, "RolloutHalted", c.Reason)
		assert.Contains(t, c.Message, "node store: pod t-store-0: container store: CrashLoopBackOff")
	}

	s.describe(threeTypes("v2", "v3", "v2"))
	s.pass()
	assert.Equal(t, "v2 v3 v1", s.images(), "what is mended goes on")
	assert.NotEqual(t, "RolloutHalted", s.condition(events.ConditionReady).Reason)
	s.settle()
	assert.Equal(t, "v2 v3 v2", s.images())
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
}

func TestRollback(t *testing.T) {
	s := installed(t)
	first := s.town().Status.Revision
	s.describe(threeTypes("v2", "bad", "v2") + "onFailure: Rollback\nupgradeTimeout: 5m\n")
	s.pass()
	s.rollOut("t-control")
	s.pass()
	s.rollOut("t-store")
	s.pass()
	s.step(4 * time.Minute)
	assert.Empty(t, s.pass())
	s.step(2 * time.Minute)
	s.pass()
	s.pass()
	assert.Equal(t, "v1 v1 v1", s.images())
	config := get(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-store-config"}})
	assert.Equal(t, "for v1\n", config.Data["config"])
	s.settle()
	status := s.town().Status
	assert.Equal(t, v1beta1.ClusterRolledBack, status.Phase)
	assert.Equal(t, "RolledBack", s.condition(events.ConditionStalled).Reason)
	assert.Equal(t, first, status.Revision)
	assert.Equal(t, first, status.Upgrade.FromRevision)
	assert.NotNil(t, status.Upgrade.FinishedAt)
	assert.Equal(t, "bad", s.town().Spec.K8sConfigGroup[1].Image, "the spec is never edited")
	s.step(time.Hour)
	assert.Empty(t, s.pass(), "it isn't tried again")

	s.describe(threeTypes("v2", "v2", "v2") + "onFailure: Rollback\n")
	s.settle()
	assert.Equal(t, "v2 v2 v2", s.images())
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
}

// Nothing has failed, and yet it doesn't get on: the pods can't be made.
func TestAnUpgradeThatTakesTooLong(t *testing.T) {
	s := installed(t)
	s.describe(threeTypes("v2", "v2", "v2") + "upgradeTimeout: 5m\n")
	s.pass()
	s.pass()
	assert.Equal(t, v1beta1.ClusterUpgrading, s.town().Status.Phase)
	s.step(6 * time.Minute)
	s.pass()
	assert.Equal(t, "RolloutHalted", s.condition(events.ConditionStalled).Reason)
	assert.Contains(t, s.condition(events.ConditionReady).Message, "t-control")
	assert.Equal(t, v1beta1.ClusterHalted, s.town().Status.Phase)
	assert.Equal(t, "v2 v1 v1", s.images())
	s.settle()
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
	assert.Equal(t, "v2 v2 v2", s.images(), "it goes on as soon as it can")
}
