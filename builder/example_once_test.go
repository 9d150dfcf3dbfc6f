package builder_test

import (
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// everywhere is a plan that runs a Job once on each node, holds them back while the owner says so, and lets the owner go
// an hour after it was made.
func everywhere(owner *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
	left := owner.CreationTimestamp.Add(time.Hour).Sub(view.Now)
	p := builder.Plan[*corev1.ConfigMap]{DeleteOwner: left <= 0, RequeueAfter: left}
	hold := owner.Data["hold"] == "yes"
	for _, node := range builder.Watched[*corev1.Node](view) {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-" + node.Name}}
		job.Spec.Suspend = &hold
		job.Spec.Template.Spec.NodeName = node.Name
		p.Children = append(p.Children, builder.Want(job, builder.CreateOnly()))
	}
	for _, job := range builder.Owned[*batchv1.Job](view) {
		after := job.DeepCopy()
		after.Spec.Suspend = &hold
		p.Edits = append(p.Edits, builder.Edit{Before: job, After: after}) // costs nothing if it is so already
	}
	return p
}

// An operator that reads the nodes, and the pods of its Jobs.
func ExampleOperator_Watches() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "everywhere").
		Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{})).
		Watches(&corev1.Node{}, builder.ObservedByAll(), builder.EnqueueFor(func(before, after *corev1.Node) (all bool, names []types.NamespacedName) {
			return before == nil || after == nil || !maps.Equal(before.Labels, after.Labels), nil
		})).
		Plan(everywhere)
	_ = operator // give NewOperator a manager, and call Complete
}

func ExampleCreateOnly() {
	made := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x", CreationTimestamp: metav1.NewTime(made)}}
	there := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "x-a"}, Spec: batchv1.JobSpec{Suspend: new(true)}}
	view := buildertest.WithWatched(buildertest.NewView(made.Add(10*time.Minute), there),
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "b"}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
	)

	p := everywhere(owner, view)
	for _, c := range p.Children {
		fmt.Println("created once:", c.Object().GetName())
	}
	for _, e := range p.Edits {
		fmt.Println("resumed:", e.After.GetName())
	}
	fmt.Println("again in", p.RequeueAfter)
	// Output:
	// created once: x-a
	// created once: x-b
	// resumed: x-a
	// again in 50m0s
}
