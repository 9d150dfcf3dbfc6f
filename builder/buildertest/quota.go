package buildertest

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/internal/rules"
)

// checkQuota refuses a pod that exceeds a ResourceQuota of its namespace, or that lacks a request or limit which the quota needs.
func (s *Server) checkQuota(k kind, obj client.Object) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	quotas := listed[*corev1.ResourceQuota](s, "ResourceQuota")
	if len(quotas) == 0 {
		return nil
	}
	if message := rules.NewQuotas(quotas, listed[*corev1.Pod](s, "Pod"), s.clock.Now()).Refuse(pod); message != "" {
		return apierrors.NewForbidden(k.resource, pod.Name, errors.New(message))
	}
	return nil
}

// listed returns the objects of a kind of the core group.
func listed[T client.Object](s *Server, kind string) []T {
	var all []T
	for _, obj := range s.list(corev1.SchemeGroupVersion.WithKind(kind), s.version) {
		all = append(all, obj.(T))
	}
	return all
}
