package replicajob

import (
	"cmp"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// services are what the replicas are reached through: one headless Service for the job, which gives each pod the name
// <pod>.<job> in DNS, and one a replica if the job asks for it.
func (p *pass) services(o *observed) []builder.Child {
	children := []builder.Child{p.take(p.headless(ServiceName(p.name), p.selector()))}
	if !p.spec.Network.ServicePerReplica {
		return children
	}
	for _, g := range o.groups {
		ports := servicePorts(&g.spec.Template.Spec, p.container)
		for i := range g.replicas {
			selector := p.selectorOfType(g)
			selector[LabelIndex] = strconv.Itoa(i)
			service := p.headless(PodName(p.name, g.name, i), selector)
			service.Spec.Ports = ports
			children = append(children, p.take(service))
		}
	}
	return children
}

// take wants an object that all pods of the job share. One of its name that no one controls is taken if it has the job's
// labels: a job of the same name had it, and was deleted without it.
func (p *pass) take(obj client.Object) builder.Child {
	return builder.Want(obj, builder.Adopt(builder.AdoptOptions{Labels: p.selector()}))
}

// headless returns a Service that has addresses in DNS, also of pods that aren't ready: replicas must find each other
// before they can be.
func (p *pass) headless(name string, selector labels.Set) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name, Labels: p.selector()},
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			Selector:                 selector,
			PublishNotReadyAddresses: true,
		},
	}
}

// servicePorts are the ports of the container that counts. A container may have a port twice, a Service can't.
func servicePorts(pod *corev1.PodSpec, container string) []corev1.ServicePort {
	c := outcome.DefaultContainer(pod, container)
	if c == nil {
		return nil
	}
	var ports []corev1.ServicePort
	for i, p := range c.Ports {
		if slices.ContainsFunc(c.Ports[:i], func(q corev1.ContainerPort) bool {
			return q.ContainerPort == p.ContainerPort && cmp.Or(q.Protocol, corev1.ProtocolTCP) == cmp.Or(p.Protocol, corev1.ProtocolTCP)
		}) {
			continue
		}
		name := p.Name
		if name == "" && len(c.Ports) > 1 { // with several, each must have one
			name = "port-" + strconv.Itoa(i)
		}
		ports = append(ports, corev1.ServicePort{
			Name: name, Protocol: p.Protocol, Port: p.ContainerPort, TargetPort: intstr.FromInt32(p.ContainerPort),
		})
	}
	return ports
}
