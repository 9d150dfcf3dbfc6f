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
	"github.com/armature-dev/armature/events"
)

// threeTypes are three StatefulSets: control, then store, then gate. An image says which version a type has.
func threeTypes(control, store, gate string) string {
	return strings.NewReplacer("<control>", control, "<store>", store, "<gate>", gate).Replace(`
deploymentOrder: [control, store, gate]
k8sConfigGroup:
- {name: control, image: "<control>"}
- {name: store, image: "<store>", storageConfig: [{name: data, mountPath: /data, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}
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
	assert.Equal(t, "for v1\n", get(s, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-store-config"}}).Data["config"])
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

func TestANodeThatIsTakenOut(t *testing.T) {
	without := func(spec string) string {
		spec = strings.Replace(spec, "[control, store, gate]", "[control, gate]", 1)
		return strings.Replace(spec, "- {name: store, nodeType: store, k8sConfigGroup: store, appConfigGroup: store, replicas: 2}\n", "", 1)
	}
	s := installed(t)
	s.describe(without(threeTypes("v1", "v1", "v1")))
	s.settle()
	assert.False(t, s.exists(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-store"}}))
	assert.False(t, s.exists(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "t-store-config"}}))
	assert.False(t, s.exists(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "t-store-headless"}}))
	assert.True(t, s.exists(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-gate"}}))
	assert.Len(t, s.town().Status.NodeTypes, 2)
}

// The claims of a StatefulSet are its controller's to delete; those that all pods share are ours.
func TestDataIsKeptUnlessReclaimed(t *testing.T) {
	asDeployment := func(reclaim string) string {
		return strings.Replace(threeTypes("v1", "v1", "v1"), "{name: store, nodeType", "{name: store, reclaim: "+reclaim+", kind: Deployment, nodeType", 1)
	}
	without := strings.Replace(asDeployment("Retain"), "- {name: store, reclaim: Retain, kind: Deployment, nodeType: store, k8sConfigGroup: store, appConfigGroup: store, replicas: 2}\n", "", 1)
	without = strings.Replace(without, "[control, store, gate]", "[control, gate]", 1)
	claim := func() *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-store-data"}}
	}

	s := perform(t, asDeployment("Retain"))
	s.settle()
	uid := get(s, claim()).UID
	s.describe(without)
	s.settle()
	assert.True(t, s.exists(claim()), "it is kept")
	s.describe(asDeployment("Retain"))
	s.settle()
	assert.Equal(t, uid, get(s, claim()).UID, "and taken up again")

	s.describe(asDeployment("Delete"))
	s.settle()
	assert.Len(t, get(s, claim()).OwnerReferences, 1)
	s.describe(without)
	s.settle()
	assert.False(t, s.exists(claim()))

	s.describe(asDeployment("Delete"))
	s.settle()
	s.describe(asDeployment("Retain"))
	s.settle()
	assert.Empty(t, get(s, claim()).OwnerReferences)
	require.NoError(t, s.others.Delete(t.Context(), s.town()))
	s.server.CollectGarbage()
	assert.True(t, s.exists(claim()), "it outlives the cluster")
	assert.False(t, s.exists(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "t-store"}}))

	set := perform(t, strings.Replace(threeTypes("v1", "v1", "v1"), "{name: store, nodeType", "{name: store, reclaim: Delete, nodeType", 1))
	set.settle()
	policy := get(set, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-store"}}).Spec.PersistentVolumeClaimRetentionPolicy
	assert.Equal(t, appsv1.DeletePersistentVolumeClaimRetentionPolicyType, policy.WhenDeleted)
	assert.Equal(t, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, policy.WhenScaled)
}

func TestReplicasOfWhatIsScaledAreLeftAlone(t *testing.T) {
	scaling := &TownScaling{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t"}}
	scaling.Spec.Autoscaling = []v1beta1.NodeScaling{{Name: "store", Spec: &v1beta1.ReplicaScaling{}}}
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
