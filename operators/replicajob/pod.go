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
func (p *pass) render(g *group, index int) *corev1.Pod {
	me := p.world.Replica(g.name, index)
	template := g.spec.Template.DeepCopy()
	p.configure(me, template)
	p.joinGang(g, template)

	name := PodName(p.name, g.name, index)
	role := RoleWorker
	if p.world.Leads(me) {
		role = RoleMaster
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   p.namespace,
			Name:        name,
			Annotations: template.Annotations,
			Finalizers:  template.Finalizers,
			Labels: podtemplate.Merge(map[string]string{
				wellknown.LabelManagedBy: wellknown.ManagedBy,
				LabelOperator:            p.operator,
				LabelJob:                 p.name,
				LabelType:                lower(g.name),
				LabelIndex:               strconv.Itoa(index),
				LabelRole:                role,
				LabelRestartAttempt:      strconv.Itoa(int(p.last.Restarts)),
				LabelRestarts:            strconv.Itoa(int(g.replicas[index].recorded)),
			}, template.Labels),
		},
		Spec: template.Spec,
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = name, ServiceName(p.name)
	pod.Spec.RestartPolicy = podRestartPolicy(g.restartPolicy())
	return pod
}

// podRestartPolicy returns what the kubelet is to do. The operator evaluates exit codes.
func podRestartPolicy(policy v1alpha1.ReplicaRestartPolicy) corev1.RestartPolicy {
	if policy == v1alpha1.RestartExitCode {
		return corev1.RestartPolicyNever
	}
	return corev1.RestartPolicy(policy)
}

// release removes the controller reference of pods whose labels say that they are no longer the job's.
func release(pods []*corev1.Pod) []builder.Edit {
	var edits []builder.Edit
	for _, pod := range pods {
		if pod.DeletionTimestamp != nil {
			continue
		}
		freed := pod.DeepCopy()
		freed.OwnerReferences = slices.DeleteFunc(freed.OwnerReferences, func(ref metav1.OwnerReference) bool {
			return ref.Controller != nil && *ref.Controller
		})
		edits = append(edits, builder.Edit{Before: pod, After: freed})
	}
	return edits
}

// desiredPod returns a pod as a child that is created once. An existing pod of its name that no one controls is adopted if its labels
// say that it is the same replica: an earlier job of the same name was deleted without it.
func desiredPod(pod *corev1.Pod) builder.Child {
	same := map[string]string{}
	for _, label := range []string{LabelOperator, LabelJob, LabelType, LabelIndex} {
		same[label] = pod.Labels[label]
	}
	return builder.Want(pod, builder.CreateOnly(), builder.Adopt(builder.AdoptOptions{Labels: same}))
}
