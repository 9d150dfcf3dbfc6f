package dsoi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/buildertest"
)

func claimOf(name, size string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: "claim", ResourceVersion: "1", Labels: map[string]string{LabelNode: "az1"},
			Annotations: map[string]string{AnnotationCluster: "t", AnnotationStorage: "data"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)},
		}},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimBound},
	}
}

// pending makes a claim one that isn't bound to a volume yet.
func pending(c *corev1.PersistentVolumeClaim) *corev1.PersistentVolumeClaim {
	c.Status.Phase = corev1.ClaimPending
	return c
}

func TestAStatefulSetsClaimsGrow(t *testing.T) {
	app := theApp()
	set := find(t, planned[*appsv1.StatefulSet](app.Plan(town(t, theSpec), buildertest.NewView(theTime))), "t-az1").DeepCopy()
	seen := buildertest.WithWatched(buildertest.NewView(theTime, set),
		claimOf("data-t-az1-0", "1Gi"), claimOf("data-t-az1-1", "5Gi"), claimOf("data-t-az1-x", "1Gi"), claimOf("mine", "1Gi"),
		pending(claimOf("data-t-az1-2", "1Gi")), // the API server would refuse another size
	)
	plan := theApp().Plan(town(t, theSpec), seen)
	assert.Empty(t, plan.Edits)

	plan = theApp().Plan(town(t, replaced(t, "1Gi", "3Gi")), seen)
	require.Len(t, plan.Edits, 1, "those that have more keep it, and those that are not bound can't have it yet")
	assert.Equal(t, "data-t-az1-0", plan.Edits[0].Before.GetName())
	assert.Equal(t, "3Gi", plan.Edits[0].After.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests.Storage().String())
	kept := find(t, planned[*appsv1.StatefulSet](plan), "t-az1")
	assert.Equal(t, "1Gi", kept.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String(), "the template can't be changed")

	plan = theApp().Plan(town(t, strings.Replace(theSpec, "storage: 1Gi", "storage: 512Mi", 1)), seen)
	assert.Empty(t, plan.Edits, "none shrinks")

	spec := strings.Replace(replaced(t, "1Gi", "3Gi"), "az1, kind: Statefulset", "az1, kind: Deployment", 1)
	assert.Empty(t, theApp().Plan(town(t, spec), seen).Edits, "a change of kind abandons them, and none could shrink again")
}

func TestSharedClaims(t *testing.T) {
	spec := replaced(t, "az1, kind: Statefulset", "az1, kind: Deployment")
	size := func(spec string, claims ...*corev1.PersistentVolumeClaim) string {
		seen := buildertest.NewView(theTime)
		for _, c := range claims {
			seen = buildertest.WithWatched(seen, c)
		}
		claim := planned[*corev1.PersistentVolumeClaim](theApp().Plan(town(t, spec), seen))[0]
		return claim.Spec.Resources.Requests.Storage().String()
	}
	assert.Equal(t, "1Gi", size(spec))
	assert.Equal(t, "4Gi", size(spec, claimOf("t-az1-data", "4Gi")), "what was scaled stays so")
	assert.Equal(t, "1Gi", size(spec, claimOf("t-az1-data", "500Mi")))
	assert.Equal(t, "1Gi", size(spec, claimOf("another", "4Gi")))
	assert.Equal(t, "500Mi", size(spec, pending(claimOf("t-az1-data", "500Mi"))), "it grows when it is bound")
}

// A claim whose volume can't be made where its pod must run is never bound. What mends that is written, also with a larger size.
func TestAClaimThatIsNotBoundHoldsNothingUp(t *testing.T) {
	with := func(size, selector string) string {
		spec := strings.Replace(threeTypes("v1", "v1", "v1"), "[control, store, gate]", "[control, cache, store, gate]", 1)
		spec = strings.Replace(spec, "k8sConfigGroup:\n", `k8sConfigGroup:
- name: cache
  image: v1
  nodeSelector: {zone: `+selector+`}
  storageConfig: [{name: data, mountPath: /data, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: `+size+`}}}}]
`, 1)
		return spec + "- {name: cache, kind: Deployment, nodeType: cache, k8sConfigGroup: cache}\n"
	}
	s := installed(t)
	s.describe(with("1Gi", "far"))
	s.pass()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-cache-data"}}
	require.Equal(t, corev1.ClaimPending, get(s, claim).Status.Phase)

	s.describe(with("3Gi", "near"))
	s.pass()
	cache := get(s, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t-cache"}})
	assert.Equal(t, "near", cache.Spec.Template.Spec.NodeSelector["zone"])
	assert.Equal(t, "1Gi", get(s, claim).Spec.Resources.Requests.Storage().String())

	claim.Status.Phase = corev1.ClaimBound
	require.NoError(t, s.others.Status().Update(t.Context(), claim))
	s.pass()
	assert.Equal(t, "3Gi", get(s, claim).Spec.Resources.Requests.Storage().String())
}
