package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/readiness"
)

// A claim of a class that binds on first consumption isn't waited for until something uses it; one of a class that binds at
// once is.
func TestUnusedClaimIsNotWaitedFor(t *testing.T) {
	for mode, ready := range map[storagev1.VolumeBindingMode]bool{
		storagev1.VolumeBindingWaitForFirstConsumer: true,
		storagev1.VolumeBindingImmediate:            false,
	} {
		t.Run(string(mode), func(t *testing.T) {
			w := newWorld(t, &corev1.PersistentVolumeClaim{})
			class := &storagev1.StorageClass{
				ObjectMeta: metav1.ObjectMeta{Name: w.ns}, Provisioner: "example.com/none", VolumeBindingMode: new(mode),
			}
			require.NoError(t, w.live.Create(w.ctx, class))
			t.Cleanup(func() { _ = w.live.Delete(w.ctx, class) })
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: new(class.Name), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}}
			pass := func(e *builder.Engine) builder.Result {
				res, err := e.For(w.owner).Object(claim).Reconcile(w.ctx)
				require.NoError(t, err)
				return res
			}
			res := pass(w.engine)
			assert.Len(t, res.Pending, 1, "it can't be told yet")
			assert.Positive(t, res.RequeueAfter)
			if !ready {
				w.eventually(func() bool {
					return w.get(claim).GetAnnotations()["volume.kubernetes.io/storage-provisioner"] != ""
				}, "the controller of claims")
			}
			w.settle(claim)
			later := buildertest.NewEngine(w.cached, builder.Options{Name: "tester"}, buildertest.EngineOptions{Clock: func() time.Time { return time.Now().Add(time.Minute) }})
			assert.Equal(t, ready, len(pass(later).Pending) == 0)

			u := w.get(claim).(*corev1.PersistentVolumeClaim)
			assert.Equal(t, ready, readiness.Of(u).Ready)
			metav1.SetMetaDataAnnotation(&u.ObjectMeta, "volume.kubernetes.io/selected-node", "node") // the scheduler's
			assert.False(t, readiness.Of(u).Ready)
		})
	}
}
