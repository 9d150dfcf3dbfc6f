package prune

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestPropagation(t *testing.T) {
	cm := &corev1.ConfigMap{}
	assert.Equal(t, client.PropagationPolicy(metav1.DeletePropagationBackground), propagation(cm))
	cm.Finalizers = []string{"example.com/hold"}
	assert.Equal(t, client.PropagationPolicy(metav1.DeletePropagationBackground), propagation(cm))
	cm.Finalizers = append(cm.Finalizers, metav1.FinalizerDeleteDependents)
	assert.Equal(t, client.PropagationPolicy(metav1.DeletePropagationForeground), propagation(cm))
}
