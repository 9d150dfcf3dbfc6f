package podenv

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Live reads objects from the API server. A cache would be cheaper, but behind: a
// pod that is created right after its ConfigMap was changed must see the change.
type Live struct{ Client kubernetes.Interface }

var _ Objects = Live{}

// ConfigMap reads a ConfigMap.
func (l Live) ConfigMap(ctx context.Context, namespace, name string) (*corev1.ConfigMap, error) {
	return l.Client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Secret reads a Secret.
func (l Live) Secret(ctx context.Context, namespace, name string) (*corev1.Secret, error) {
	return l.Client.CoreV1().Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
}
