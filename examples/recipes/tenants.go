package recipes

import (
	"crypto/sha256"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Tenants is an operator that gives each owner a namespace with a quota. Garbage collection doesn't reach across
// namespaces, so the children are cross-namespace: the owner has a finalizer until they are gone.
func Tenants(mgr manager.Manager) *builder.Operator[*v1.WebApp] {
	return builder.NewOperator[*v1.WebApp](mgr, "tenants").
		Owns(&corev1.Namespace{}, builder.CrossNamespace()).
		Owns(&corev1.ResourceQuota{}, builder.CrossNamespace()).
		Plan(planTenants)
}

func planTenants(app *v1.WebApp, view builder.View) builder.Plan[*v1.WebApp] {
	home := namespaceOf(app)
	plan := builder.Plan[*v1.WebApp]{
		Children: []builder.Child{
			builder.Want(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: home}}, builder.CrossNamespace()),
		},
		Report: true,
	}
	if len(builder.Owned[*corev1.Namespace](view)) == 0 { // children are created side by side, and a quota needs its namespace
		plan.WaitingFor = []string{"Namespace " + home}
		return plan
	}
	plan.Children = append(plan.Children, builder.Want(&corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: "tenant"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("20")}},
	}, builder.CrossNamespace()))
	return plan
}

// namespaceOf is the name of an owner's namespace. The operator chooses it: one that the owner's author could choose would
// let them take over any namespace. It is a hash, since "a-b" and "c" must not come to the same name as "a" and "b-c", and
// since an owner's name may be longer than a namespace's, and have dots.
func namespaceOf(app *v1.WebApp) string {
	return fmt.Sprintf("tenant-%x", sha256.Sum256([]byte(app.Namespace+"/"+app.Name)))[:39]
}
