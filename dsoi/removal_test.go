package dsoi

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// storeWith returns threeTypes with further fields of the node store.
func storeWith(fields string) string {
	return strings.Replace(threeTypes("v1", "v1", "v1"), "{name: store, nodeType", "{name: store, "+fields+", nodeType", 1)
}

var storeNode = regexp.MustCompile(`- {name: store, .*nodeType: store.*\n`)

// withoutStore returns threeTypes without the node store.
func withoutStore() string {
	spec := strings.Replace(threeTypes("v1", "v1", "v1"), "[control, store, gate]", "[control, gate]", 1)
	return storeNode.ReplaceAllString(spec, "")
}

func TestANodeThatIsTakenOut(t *testing.T) {
	s := installed(t)
	s.describe(withoutStore())
	s.settle()
	assert.False(t, s.exists(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-store"}}))
	assert.False(t, s.exists(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "t-store-config"}}))
	assert.False(t, s.exists(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "t-store-headless"}}))
	assert.True(t, s.exists(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "t-gate"}}))
	assert.Len(t, s.town().Status.NodeTypes, 2)
}

// The claims of a StatefulSet are its controller's to delete; those that all pods share are ours.
func TestDataIsKeptUnlessReclaimed(t *testing.T) {
	asDeployment := func(reclaim string) string { return storeWith("kind: Deployment, reclaim: " + reclaim) }
	claim := func() *corev1.PersistentVolumeClaim {
		return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-store-data"}}
	}

	s := perform(t, asDeployment("Retain"))
	s.settle()
	uid := get(s, claim()).UID
	s.describe(withoutStore())
	s.settle()
	assert.True(t, s.exists(claim()), "it is kept")
	s.describe(asDeployment("Retain"))
	s.settle()
	assert.Equal(t, uid, get(s, claim()).UID, "and taken up again")

	s.describe(asDeployment("Delete"))
	s.settle()
	assert.Len(t, get(s, claim()).OwnerReferences, 1)
	s.describe(withoutStore())
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

	s = perform(t, storeWith("reclaim: Delete"))
	s.settle()
	policy := s.set("t-store").Spec.PersistentVolumeClaimRetentionPolicy
	assert.Equal(t, appsv1.DeletePersistentVolumeClaimRetentionPolicyType, policy.WhenDeleted)
	assert.Equal(t, appsv1.RetainPersistentVolumeClaimRetentionPolicyType, policy.WhenScaled)
}
