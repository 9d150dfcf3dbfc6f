package builder_test

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// A plan that can't go on says what it waits for: Ready=False, Progressing=True, "waiting for Secret default/tls".
func ExamplePlan_waitingFor() {
	decide := func(owner *v1alpha1.JobFlow, view builder.View) builder.Plan[*v1alpha1.JobFlow] {
		plan := builder.Plan[*v1alpha1.JobFlow]{Report: true}
		if _, ok := builder.Lookup[*corev1.Secret](view, "tls"); !ok {
			plan.WaitingFor = append(plan.WaitingFor, "Secret "+owner.Namespace+"/tls")
		}
		return plan
	}
	owner := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "flow"}}
	operator := builder.NewOperator[*v1alpha1.JobFlow](nil, "example").
		Watches(&corev1.Secret{}, builder.ReferencedBy(func(*v1alpha1.JobFlow) []string { return []string{"tls"} })).
		Plan(decide)
	plan, err := buildertest.PlanFor(operator, owner, buildertest.NewView(time.Now()))
	fmt.Println(plan.WaitingFor, err)
	// Output: [Secret default/tls] <nil>
}

// A plan is checked in a test without a cluster. Here the operator has forgotten to declare what the plan looks at.
func ExampleOperator_Plan() {
	operator := builder.NewOperator[*corev1.ConfigMap](nil, "website").
		Plan(func(_ *corev1.ConfigMap, view builder.View) builder.Plan[*corev1.ConfigMap] {
			builder.Owned[*appsv1.Deployment](view)
			return builder.Plan[*corev1.ConfigMap]{}
		})
	_, err := buildertest.PlanFor(operator, &corev1.ConfigMap{}, buildertest.NewView(time.Now()))
	fmt.Println(err)
	// Output: builder misused: the plan asks for Owned[*v1.Deployment], a kind that the operator doesn't declare, so that none is ever found; add Owns(&appsv1.Deployment{}) to the operator
}
