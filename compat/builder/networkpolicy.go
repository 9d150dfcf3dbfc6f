package builder

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// BuilderNetworkPolicy asks for a NetworkPolicy. One without a NetworkPolicySpec asks for nothing.
type BuilderNetworkPolicy struct {
	NetworkPolicySpec *networkingv1.NetworkPolicySpec
	CommonBuilder
}

// ToNewBuilderNetworkPolicy sets the NetworkPolicies that there should be: none, if the list is empty.
func ToNewBuilderNetworkPolicy(builder []BuilderNetworkPolicy) func(*Builder) {
	return func(s *Builder) {
		s.NetworkPolicy = builder
		s.declare(kindNetworkPolicy)
	}
}

// ReconcileNetworkPolicy makes the NetworkPolicies as they are wanted.
func (s *Builder) ReconcileNetworkPolicy() (controllerutil.OperationResult, error) {
	return s.run("NetworkPolicy", s.wantNetworkPolicies(), nil)
}

func (s *Builder) wantNetworkPolicies() []want {
	var wants []want
	for i := range s.NetworkPolicy {
		if item := &s.NetworkPolicy[i]; item.NetworkPolicySpec != nil {
			wants = append(wants, s.want(kindNetworkPolicy, item.makeNetworkPolicy(), item.CommonBuilder))
		}
	}
	return wants
}

func (b *BuilderNetworkPolicy) makeNetworkPolicy() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: b.ObjectMeta,
		Spec:       *b.NetworkPolicySpec,
	}
}
