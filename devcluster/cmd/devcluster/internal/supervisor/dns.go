package supervisor

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
)

// announceDNS makes the Service kube-dns, whose one endpoint is CoreDNS beside the control plane.
func (s *Supervisor) announceDNS(ctx context.Context) error {
	const name, port = "kube-dns", 53
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"k8s-app": "kube-dns"}},
		Spec: corev1.ServiceSpec{
			ClusterIP: containernode.DNSAddress,
			Ports: []corev1.ServicePort{
				{Name: "dns", Port: port, Protocol: corev1.ProtocolUDP},
				{Name: "dns-tcp", Port: port, Protocol: corev1.ProtocolTCP},
			},
		},
	}
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{containernode.Gateway}}},
		Ports: []discoveryv1.EndpointPort{
			{Name: new("dns"), Port: ptr.To[int32](port), Protocol: ptr.To(corev1.ProtocolUDP)},
			{Name: new("dns-tcp"), Port: ptr.To[int32](port), Protocol: ptr.To(corev1.ProtocolTCP)},
		},
	}
	// To create a Service that is there already fails because of its address.
	services := s.admin.CoreV1().Services(metav1.NamespaceSystem)
	_, err := services.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = services.Create(ctx, service, metav1.CreateOptions{})
	}
	if err != nil {
		return fmt.Errorf("service %s: %w", name, err)
	}
	_, err = s.admin.DiscoveryV1().EndpointSlices(metav1.NamespaceSystem).Create(ctx, slice, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("endpoint slice %s: %w", name, err)
	}
	return nil
}
