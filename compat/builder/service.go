package builder

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// BuilderService describes a desired Service. Without a ServiceSpec it has no effect.
type BuilderService struct {
	ServiceSpec *corev1.ServiceSpec
	// SelectorLabels are the Service's selector. Default: that of ServiceSpec.
	SelectorLabels map[string]string
	CommonBuilder
}

// ToNewBuilderService sets the desired Services. With an empty list none is desired.
func ToNewBuilderService(builder []BuilderService) func(*Builder) {
	return func(s *Builder) {
		s.Service = builder
		s.declare(kindService)
	}
}

// ReconcileService applies the desired Services.
func (s *Builder) ReconcileService() (controllerutil.OperationResult, error) {
	return s.run("Service", s.desiredServices(), nil)
}

func (s *Builder) desiredServices() []desired {
	var objects []desired
	for i := range s.Service {
		if item := &s.Service[i]; item.ServiceSpec != nil {
			objects = append(objects, s.desire(kindService, item.makeService(), item.CommonBuilder))
		}
	}
	return objects
}

func (b *BuilderService) makeService() *corev1.Service {
	svc := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: b.ObjectMeta,
		Spec:       *b.ServiceSpec,
	}
	if b.SelectorLabels != nil {
		svc.Spec.Selector = b.SelectorLabels
	}
	return svc
}
