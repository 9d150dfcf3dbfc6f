package builder_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// editSubresource changes an object through a subresource, as another writer.
func editSubresource[T client.Object](w *world, like T, subresource string, change func(T)) {
	w.t.Helper()
	w.eventually(func() bool {
		obj := w.get(like).(T)
		change(obj)
		err := w.live.SubResource(subresource).Update(w.ctx, obj)
		require.True(w.t, err == nil || apierrors.IsConflict(err), "%v", err)
		return err == nil
	}, "%s", subresource)
	w.settle(like)
}

// What another writer adds or changes through a pod's subresources stays, and the rest of the pod can still be changed.
func TestPodThatIsChangedThroughSubresources(t *testing.T) {
	w := newWorld(t)
	recreate := builder.RecreateImmutable("")
	pod := func(image, cpu string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"no": "node"},
			Containers: []corev1.Container{{Name: "c", Image: image, Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
			}}},
		}}
	}
	w.mustWant(true, "create", pod("a", "1"), recreate)
	before := w.get(pod("a", "1")).GetUID()
	editSubresource(w, pod("a", "1"), "ephemeralcontainers", func(p *corev1.Pod) {
		p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "d"}}}
	})
	w.mustWant(false, "a container to debug with", pod("a", "1"), recreate)
	w.mustWant(true, "an image", pod("b", "1"), recreate)
	editSubresource(w, pod("b", "1"), "resize", func(p *corev1.Pod) {
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("2")
	})
	w.mustWant(true, "resized, and desired as it is now", pod("b", "2"), recreate)
	w.mustWant(true, "another image", pod("c", "2"), recreate)
	w.mustWant(false, "as desired", pod("c", "2"), recreate)
	after := w.get(pod("c", "2")).(*corev1.Pod)
	assert.Equal(t, before, after.UID)
	assert.Equal(t, "c", after.Spec.Containers[0].Image)
	assert.Len(t, after.Spec.EphemeralContainers, 1)
}

// A claim grows in place if its class allows that. Otherwise it is an error, and the claim stays.
func TestClaimThatGrows(t *testing.T) {
	for name, expandable := range map[string]bool{"expandable": true, "fixed": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			recreate := builder.RecreateImmutable("")
			class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: w.ns}, Provisioner: "example.com/none", AllowVolumeExpansion: new(expandable)}
			require.NoError(t, w.live.Create(w.ctx, class))
			t.Cleanup(func() { _ = w.live.Delete(w.ctx, class) })
			claim := func(size string) *corev1.PersistentVolumeClaim {
				c := claimOf("c", size)
				c.Spec.StorageClassName = new(class.Name)
				return &c
			}
			w.mustWant(true, "create", claim("1Gi"), recreate)
			before := w.get(claim("1Gi")).GetUID()
			editSubresource(w, claim("1Gi"), "status", func(c *corev1.PersistentVolumeClaim) {
				c.Status.Phase, c.Status.Capacity = corev1.ClaimBound, corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
			})
			if expandable {
				w.mustWant(true, "larger", claim("2Gi"), recreate)
				w.mustWant(false, "as desired", claim("2Gi"), recreate)
				w.edit(claim("2Gi"), func(o client.Object) {
					o.(*corev1.PersistentVolumeClaim).Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("5Gi")
				})
				w.mustWant(true, "enlarged by another writer, while the volume has its size", claim("2Gi"), recreate)
			} else {
				_, _, err := w.want(claim("2Gi"), recreate)
				require.Error(t, err)
				assert.NotErrorIs(t, err, builder.ErrImmutable)
			}
			assert.Zero(t, w.sent.count(http.MethodDelete, ""))
			assert.Equal(t, before, w.get(claim("1Gi")).GetUID())
		})
	}
}
