package diagnose

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// appliedWith lets an operator of Web/site apply an object, with these fields of the spec.
func appliedWith(obj client.Object, fields string) {
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Web", Name: "site", UID: "1", Controller: new(true)}})
	obj.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{},"f:paused":{},"f:suspend":{}}}`)},
		{Manager: "web", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:armature.dev/digest":{}}},"f:spec":{` + fields + `}}`)},
	})
}

// A field that an operator of Armature applies is changed in the spec of the owner, because the operator undoes a change in the child. A
// field that the operator leaves to others is changed in the child.
func TestNextChangesTheOwner(t *testing.T) {
	none := func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32(0)) }
	paused := func(d *appsv1.Deployment) { d.Spec.Paused = true }
	late := func(d *appsv1.Deployment) {
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}
	}
	deployment := func(change func(*appsv1.Deployment), fields string) *Object {
		return makeDeployment(func(d *appsv1.Deployment) {
			change(d)
			if fields != "" {
				appliedWith(d, fields)
			}
		})
	}
	job := func(change func(*batchv1.Job), fields string) *Object {
		return makeJob("j", func(j *batchv1.Job) {
			change(j)
			appliedWith(j, fields)
		}, nil)
	}
	idle := func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(0)) }
	suspended := func(j *batchv1.Job) { j.Spec.Suspend = new(true) }
	invalid := func(change func(*v1alpha1.JobFlow)) *Object {
		return makeFlow(func(f *v1alpha1.JobFlow) {
			f.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "False", Reason: "InvalidSpec", Message: "spec.flows"}}
			if change != nil {
				change(f)
			}
		})
	}
	const owner = "change the spec of web/site, whose operator undoes other changes"
	for name, tt := range map[string]struct {
		root *Object
		next string
	}{
		"nobody's, with 0 replicas":       {deployment(none, ""), "kubectl scale deployment/d -n team --replicas=1"},
		"an operator's, with 0 replicas":  {deployment(none, `"f:replicas":{}`), owner},
		"someone else's replicas":         {deployment(none, `"f:template":{}`), "kubectl scale deployment/d -n team --replicas=1"},
		"an operator's, paused":           {deployment(paused, `"f:paused":{}`), owner},
		"an operator's, paused by a user": {deployment(paused, `"f:replicas":{}`), "kubectl rollout resume deployment/d -n team"},
		"nobody's, late":                  {deployment(late, ""), "kubectl rollout undo deployment/d -n team returns to the previous revision"},
		"an operator's, late":             {deployment(late, `"f:template":{"f:spec":{}}`), owner},
		"an operator's Job without pods":  {job(idle, `"f:parallelism":{}`), owner},
		"someone else's parallelism":      {job(idle, `"f:template":{}`), `kubectl patch job/j -n team -p '{"spec":{"parallelism":1}}'`},
		"an operator's suspended Job":     {job(suspended, `"f:suspend":{}`), owner},
		"an operator's ReplicaJob with 0 replicas": {makeReplicas(func(r *v1alpha1.ReplicaJob) {
			r.Spec.ReplicaSpecs = map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Worker": {Replicas: new(int32(0))}}
			appliedWith(r, `"f:replicaSpecs":{"f:Worker":{"f:replicas":{}}}`)
		}), "raise the replicas of a type: " + owner},
		"an invalid flow": {invalid(nil), "correct the field that the message names: kubectl edit jobflow/f -n team"},
		"an operator's invalid flow": {invalid(func(f *v1alpha1.JobFlow) { appliedWith(f, `"f:flows":{}`) }),
			"correct the field that the message names: " + owner},
		"a stalled flow": {makeFlow(func(f *v1alpha1.JobFlow) { // the message can name any object
			f.Status.Conditions = []metav1.Condition{{Type: "Stalled", Status: "True", Reason: "Denied", Message: "the Service s has no port 80"}}
		}), "correct what the message names: kubectl describe jobflow/f -n team shows the object and its events"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.next, Diagnose(Facts{Now: now, Root: tt.root}).Next)
		})
	}
}
