package recipes

import (
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/quantity"
	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

// Claims is an operator whose volumes grow with the spec. A StatefulSet's volumeClaimTemplates can't be changed, and the
// claims that it made are its own: so the set is deleted without its pods and created again, for the pods to come, and
// each claim that exists is edited.
func Claims(mgr manager.Manager) *builder.Operator[*v1.WebApp] {
	return builder.NewOperator[*v1.WebApp](mgr, "claims").
		Owns(&appsv1.StatefulSet{}).
		Watches(&corev1.PersistentVolumeClaim{}, builder.Referencing(func(claim *corev1.PersistentVolumeClaim) []string {
			return []string{claim.Labels["app.kubernetes.io/instance"]} // the set's selector, which its claims get as labels
		})).
		Plan(planClaims)
}

func planClaims(app *v1.WebApp, view builder.View) builder.Plan[*v1.WebApp] {
	size := volumeSize(app)
	plan := builder.Plan[*v1.WebApp]{
		Children: []builder.Child{
			builder.Want(storage(app, size), builder.RecreateImmutable(metav1.DeletePropagationOrphan)),
		},
		Report: true,
	}
	_, hasSet := builder.Lookup[*appsv1.StatefulSet](view, app.Name) // otherwise the claims may be those of someone else's
	for _, claim := range builder.Watched[*corev1.PersistentVolumeClaim](view) {
		if hasSet && isOf(app, claim) && claim.Spec.Resources.Requests.Storage().Cmp(size) < 0 {
			after := claim.DeepCopy() // the view is shared with the cache
			after.Spec.Resources.Requests[corev1.ResourceStorage] = size
			plan.Edits = append(plan.Edits, builder.Edit{Before: claim, After: after, Foreign: true})
		}
	}
	return plan
}

// isOf reports whether a claim has the name that the set gives to those of its pods. Anyone can write the label.
func isOf(app *v1.WebApp, claim *corev1.PersistentVolumeClaim) bool {
	index, hasPrefix := strings.CutPrefix(claim.Name, "data-"+app.Name+"-")
	_, err := strconv.ParseUint(index, 10, 31)
	return hasPrefix && err == nil
}

// volumeSize is what the owner asks for; 1Gi by default.
func volumeSize(app *v1.WebApp) resource.Quantity {
	if size, err := quantity.Parse(app.Annotations["example.com/volume-size"]); err == nil {
		return size
	}
	return resource.MustParse("1Gi")
}
