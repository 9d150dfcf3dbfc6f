package builder_test

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// A reconciler of one's own writes the standard conditions in one patch, or in none if they are so already.
func ExampleEngine_ReportStatus() {
	_ = func(ctx context.Context, engine *builder.Engine, flow *v1alpha1.JobFlow, server *appsv1.Deployment) error {
		res, err := engine.For(flow).Deployment(server).Reconcile(ctx)
		return errors.Join(err, engine.ReportStatus(ctx, flow, flow, res, err))
	}
}

// A reconciler that has more to report changes a copy of the owner: all of it is one patch.
func ExampleEngine_ReportStatus_more() {
	_ = func(ctx context.Context, engine *builder.Engine, flow *v1alpha1.JobFlow, server *appsv1.Deployment) error {
		res, err := engine.For(flow).Deployment(server).Reconcile(ctx)
		after := flow.DeepCopy()
		after.Status.ObservedGeneration = flow.Generation
		return errors.Join(err, engine.ReportStatus(ctx, flow, after, res, err))
	}
}

// Errors name the object and the fields at fault, and say by their types what can be done about them.
func ExampleError() {
	c := newCluster()
	bad := web("nginx:1.29")
	bad.Spec.Replicas = ptr.To[int32](-1)
	_, err := c.engine.For(c.owner).Deployment(bad).ConfigMap(settings(nil)).Reconcile(context.Background())

	var about *builder.Error
	fmt.Println(errors.As(err, &about), about.Key, about.Fields())
	fmt.Println("no use in trying again:", builder.IsTerminal(err))
	// Output:
	// true Deployment.apps default/web [spec.replicas]
	// no use in trying again: true
}

// A wrong call is kept, and reported by Reconcile.
func ExampleIsTerminal() {
	c := newCluster()
	nameless := settings(nil)
	nameless.Name = ""
	_, err := c.engine.For(c.owner).ConfigMap(nameless).Reconcile(context.Background())
	fmt.Println(errors.Is(err, builder.ErrMisuse), builder.IsTerminal(err))

	theirs := settings(nil)
	theirs.Namespace, theirs.OwnerReferences = "default", []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "Pod", Name: "p", UID: "u", Controller: new(true),
	}}
	c = newCluster(theirs)
	_, err = c.engine.For(c.owner).ConfigMap(settings(nil)).Reconcile(context.Background())
	fmt.Println(errors.Is(err, builder.ErrNotOwned), builder.IsTerminal(err))
	// Output:
	// true true
	// true false
}
