package replicajob

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// render makes the pod of a replica. It shares nothing with the template.
func (j *job) render(t *team, index int) *corev1.Pod {
	me := j.world.Replica(t.name, index)
	template := t.spec.Template.DeepCopy()
	j.configure(me, template)
	j.joinGang(t, template)

	name := PodName(j.name, t.name, index)
	role := RoleWorker
	if j.world.Leads(me) {
		role = RoleMaster
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   j.namespace,
			Name:        name,
			Annotations: template.Annotations,
			Finalizers:  template.Finalizers,
			Labels: podtemplate.Merge(map[string]string{
				wellknown.LabelManagedBy: wellknown.ManagedBy,
				LabelOperator:            j.operator,
				LabelJob:                 j.name,
				LabelType:                lower(t.name),
				LabelIndex:               strconv.Itoa(index),
				LabelRole:                role,
				LabelRestartAttempt:      strconv.Itoa(int(j.was.Restarts)),
				LabelRestarts:            strconv.Itoa(int(t.slots[index].recorded)),
			}, template.Labels),
		},
		Spec: template.Spec,
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, ServiceName(j.name)
	pod.Spec.RestartPolicy = podRestartPolicy(t.restartPolicy())
	return pod
}

// podRestartPolicy returns what the kubelet is to do. Exit codes are for the operator to look at.
func podRestartPolicy(policy v1alpha1.ReplicaRestartPolicy) corev1.RestartPolicy {
	if policy == v1alpha1.RestartExitCode {
		return corev1.RestartPolicyNever
	}
	return corev1.RestartPolicy(policy)
}

// release lets go of pods whose labels say that they are no longer the job's.
func release(strays []*corev1.Pod) []builder.Edit {
	var edits []builder.Edit
	for _, pod := range alive(strays) {
		freed := pod.DeepCopy()
		freed.OwnerReferences = slices.DeleteFunc(freed.OwnerReferences, func(ref metav1.OwnerReference) bool {
			return ref.Controller != nil && *ref.Controller
		})
		edits = append(edits, builder.Edit{Before: pod, After: freed})
	}
	return edits
}

// wantPod wants a pod as it is made. One of its name that no one controls is taken if it is labelled as the same
// replica: a job of the same name had it, and was deleted without it.
func wantPod(pod *corev1.Pod) builder.Child {
	same := map[string]string{}
	for _, label := range []string{LabelOperator, LabelJob, LabelType, LabelIndex} {
		same[label] = pod.Labels[label]
	}
	return builder.Want(pod, builder.CreateOnly(), builder.Adopt(builder.AdoptOptions{Labels: same}))
}
