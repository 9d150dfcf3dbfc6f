package dsoi

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// around are the objects around a node's workload.
func (r *renderer) around() []client.Object {
	var objs []client.Object
	pods := selector(r.cluster, r.node.Name)
	if r.node.Kind == statefulSet {
		objs = append(objs, &corev1.Service{ObjectMeta: r.meta(headlessName(r.node.Workload)), Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: pods, Ports: headlessPorts(r.node.K8s.Ports),
			// Members of a cluster find one another before they are ready.
			PublishNotReadyAddresses: true,
		}})
	}
	if r.node.K8s.Service != nil {
		spec := r.node.K8s.Service.DeepCopy()
		spec.Selector = pods
		objs = append(objs, &corev1.Service{ObjectMeta: r.meta(r.node.Workload), Spec: *spec})
	}
	if b := r.node.K8s.PodDisruptionBudget; b != nil {
		b = b.DeepCopy()
		objs = append(objs, &policyv1.PodDisruptionBudget{ObjectMeta: r.meta(r.node.Workload), Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: b.MinAvailable, MaxUnavailable: b.MaxUnavailable, UnhealthyPodEvictionPolicy: b.UnhealthyPodEvictionPolicy,
			Selector: &metav1.LabelSelector{MatchLabels: pods},
		}})
	}
	return objs
}

// headlessPorts are a container's ports, each with the name that a Service of several needs.
func headlessPorts(ports []corev1.ContainerPort) []corev1.ServicePort {
	var all []corev1.ServicePort
	for _, p := range ports {
		name := p.Name
		if name == "" && len(ports) > 1 {
			name = fmt.Sprintf("port-%d", p.ContainerPort)
			if p.Protocol != "" && p.Protocol != corev1.ProtocolTCP {
				name = fmt.Sprintf("port-%d-%s", p.ContainerPort, strings.ToLower(string(p.Protocol)))
			}
		}
		all = append(all, corev1.ServicePort{
			Name: name, Port: p.ContainerPort, TargetPort: intstr.FromInt32(p.ContainerPort), Protocol: p.Protocol,
		})
	}
	return all
}
