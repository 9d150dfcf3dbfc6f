package builder

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// withoutHeld returns a trial without what only one object can have, and found has: a Service's addresses and node
// ports. One that some other Service has stays in it, so that the trial fails as the creation would.
func (s *kinds) withoutHeld(trial, found client.Object) (client.Object, error) {
	if u, ok := trial.(*unstructured.Unstructured); ok {
		if u.GetAPIVersion() != "v1" || u.GetKind() != "Service" {
			return trial, nil
		}
		typed, held := &corev1.Service{}, &corev1.Service{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.(runtime.Unstructured).UnstructuredContent(), held); err != nil {
			return nil, err
		}
		dropHeld(typed, held)
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		return &unstructured.Unstructured{Object: fields}, err
	}
	if service, ok := trial.(*corev1.Service); ok {
		dropHeld(service, found.(*corev1.Service))
	}
	return trial, nil
}

func dropHeld(trial, held *corev1.Service) {
	isHeld := func(ip string) bool {
		return ip != corev1.ClusterIPNone && (ip == held.Spec.ClusterIP || slices.Contains(held.Spec.ClusterIPs, ip))
	}
	if isHeld(trial.Spec.ClusterIP) || slices.ContainsFunc(trial.Spec.ClusterIPs, isHeld) {
		trial.Spec.ClusterIP, trial.Spec.ClusterIPs = "", nil
	}
	if trial.Spec.HealthCheckNodePort == held.Spec.HealthCheckNodePort {
		trial.Spec.HealthCheckNodePort = 0
	}
	for i := range trial.Spec.Ports {
		port := &trial.Spec.Ports[i]
		if slices.ContainsFunc(held.Spec.Ports, func(h corev1.ServicePort) bool { return h.NodePort == port.NodePort && h.Protocol == protocolOf(port) }) {
			port.NodePort = 0
		}
	}
}

func protocolOf(port *corev1.ServicePort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}
