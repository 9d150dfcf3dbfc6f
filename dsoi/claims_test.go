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
	}
}

func TestAStatefulSetsClaimsGrow(t *testing.T) {
	app := theApp()
	set := find(t, planned[*appsv1.StatefulSet](app.Plan(town(t, theSpec), buildertest.NewView(theTime))), "t-az1").DeepCopy()
	seen := buildertest.WithWatched(buildertest.NewView(theTime, set),
		claimOf("data-t-az1-0", "1Gi"), claimOf("data-t-az1-1", "5Gi"), claimOf("data-t-az1-x", "1Gi"), claimOf("mine", "1Gi"),
	)
	plan := theApp().Plan(town(t, theSpec), seen)
	assert.Empty(t, plan.Edits)

	plan = theApp().Plan(town(t, replaced(t, "1Gi", "3Gi")), seen)
	require.Len(t, plan.Edits, 1, "those that have more keep it")
	assert.Equal(t, "data-t-az1-0", plan.Edits[0].Before.GetName())
	assert.Equal(t, "3Gi", plan.Edits[0].After.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests.Storage().String())
	kept := find(t, planned[*appsv1.StatefulSet](plan), "t-az1")
	assert.Equal(t, "1Gi", kept.Spec.VolumeClaimTemplates[0].Spec.Resources.Requests.Storage().String(), "the template can't be changed")

	plan = theApp().Plan(town(t, strings.Replace(theSpec, "storage: 1Gi", "storage: 512Mi", 1)), seen)
	assert.Empty(t, plan.Edits, "none shrinks")
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
}
