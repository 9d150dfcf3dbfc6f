package builder

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// BuilderNetworkPolicy describes a desired NetworkPolicy. Without a NetworkPolicySpec it has no effect.
type BuilderNetworkPolicy struct {
	NetworkPolicySpec *networkingv1.NetworkPolicySpec
	CommonBuilder
}

// ToNewBuilderNetworkPolicy sets the desired NetworkPolicies. With an empty list none is desired.
func ToNewBuilderNetworkPolicy(builder []BuilderNetworkPolicy) func(*Builder) {
	return func(s *Builder) {
		s.NetworkPolicy = builder
		s.declare(kindNetworkPolicy)
	}
}

// ReconcileNetworkPolicy applies the desired NetworkPolicies.
func (s *Builder) ReconcileNetworkPolicy() (controllerutil.OperationResult, error) {
	return s.run("NetworkPolicy", s.desiredNetworkPolicies(), nil)
}

func (s *Builder) desiredNetworkPolicies() []desired {
	var objects []desired
	for i := range s.NetworkPolicy {
		if item := &s.NetworkPolicy[i]; item.NetworkPolicySpec != nil {
			objects = append(objects, s.desire(kindNetworkPolicy, item.makeNetworkPolicy(), item.CommonBuilder))
		}
	}
	return objects
}

func (b *BuilderNetworkPolicy) makeNetworkPolicy() *networkingv1.NetworkPolicy {
	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: b.ObjectMeta,
		Spec:       *b.NetworkPolicySpec,
	}
}
