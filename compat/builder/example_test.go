package builder_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/compat/builder"
)

// newTenant returns an API server in memory with an owner in it, and what its items have in common.
func newTenant() (c client.Client, cr *corev1.ConfigMap, common func(name string) builder.CommonBuilder) {
	cr = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tenant", UID: "1"}}
	c = buildertest.NewServer(scheme.Scheme, buildertest.WithObjects(cr)).Client("tenants")
	return c, cr, func(name string) builder.CommonBuilder {
		return builder.CommonBuilder{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Client:     c, CrObject: cr, OwnerRef: *metav1.NewControllerRef(cr, corev1.SchemeGroupVersion.WithKind("ConfigMap")),
		}
	}
}

// A pass as operators of the original write it: kind by kind, and the store last.
func ExampleNewBuilder() {
	c, cr, common := newTenant()
	pass := func(configMaps ...builder.BuilderConfigMap) {
		build := builder.NewBuilder(
			builder.ToNewBuilderConfigMap(configMaps),
			builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{{
				CommonBuilder: common("web"), Kind: "Deployment", Replicas: 2,
				Labels:  map[string]string{"custom_resource": cr.Name},
				PodSpec: &corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29"}}},
			}}),
			builder.ToNewBuilderContext(builder.BuilderContext{Context: context.Background()}),
			builder.ToNewBuilderStore(*builder.NewStore(c, nil, cr.Namespace, cr)),
		)
		fmt.Println(build.ReconcileConfigMap())
		fmt.Println(build.ReconcileDeployOrSts())
		fmt.Println(build.ReconcileStore())
	}
	pass(builder.BuilderConfigMap{CommonBuilder: common("settings"), Data: map[string]string{"colour": "blue"}})
	pass() // the settings are no longer wanted

	err := c.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "settings"}, &corev1.ConfigMap{})
	fmt.Println(err)
	// Output:
	// created <nil>
	// created <nil>
	// <nil>
	// unchanged <nil>
	// unchanged <nil>
	// <nil>
	// configmaps "settings" not found
}

// The pods roll when the ConfigMap's data changes: each container has its digest.
func ExampleToNewBuilderConfigMapHash() {
	c, cr, common := newTenant()
	settings := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"colour": "blue"}}
	build := builder.NewBuilder(
		builder.ToNewBuilderConfigMapHash([]builder.BuilderConfigMapHash{{Object: settings}}),
		builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{{
			CommonBuilder: common("web"), Kind: "Statefulset", Replicas: 1, ServiceName: "web",
			Labels:  map[string]string{"custom_resource": cr.Name},
			PodSpec: &corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "nginx:1.29"}}},
		}}),
		builder.ToNewBuilderStore(*builder.NewStore(c, nil, cr.Namespace, cr)),
	)
	fmt.Println(build.ReconcileDeployOrSts())
	// Output: created <nil>
}

// A single object, with the CRUD methods that every item has.
func ExampleCommonBuilder() {
	_, _, common := newTenant()
	item := common("settings")
	item.DesiredState = &corev1.ConfigMap{ObjectMeta: item.ObjectMeta, Data: map[string]string{"colour": "blue"}}
	item.CurrentState = &corev1.ConfigMap{}
	ctx, recorder := context.Background(), builder.BuilderRecorder{}
	fmt.Println(item.CreateOrUpdate(ctx, recorder))
	fmt.Println(item.CreateOrUpdate(ctx, recorder))
	found, err := item.Get(ctx, recorder)
	fmt.Println(found.(*corev1.ConfigMap).Data, err)
	// Output:
	// created <nil>
	// unchanged <nil>
	// map[colour:blue] <nil>
}
