package world_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// BenchmarkQuota settles a ReplicaSet of 400 pods under quotas that admit all of them, or half.
func BenchmarkQuota(b *testing.B) {
	for _, quota := range []string{"none", "pods 400", "cpu 400", "cpu 200"} {
		b.Run(quota, func(b *testing.B) {
			for b.Loop() {
				template := templateOf("v1")
				template.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
				objects := []client.Object{node("n1"), &appsv1.ReplicaSet{ObjectMeta: demo("demo"), Spec: appsv1.ReplicaSetSpec{
					Replicas: new(int32(400)), Selector: selectDemo(), Template: template,
				}}}
				var name corev1.ResourceName
				var limit string
				if n, _ := fmt.Sscanf(quota, "%s %s", &name, &limit); n == 2 {
					objects = append(objects, &corev1.ResourceQuota{
						ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quota"},
						Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: resource.MustParse(limit)}},
					})
				}
				w := world.New(buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(objects...)), world.Options{})
				if err := w.Settle(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
