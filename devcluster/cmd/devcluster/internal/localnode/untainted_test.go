package localnode

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// A process that ends after the creation of its node leaves the taint behind. The next one removes it, and leaves the taints of others.
func TestTheTaintOfANewNodeIsRemoved(t *testing.T) {
	client := fake.NewClientset()
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	others := corev1.Taint{Key: "example.com/mine", Effect: corev1.TaintEffectNoSchedule}
	client.PrependReactor("create", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		node := action.(clienttesting.CreateAction).GetObject().(*corev1.Node)
		node.Spec.Taints = append(node.Spec.Taints, notReady)
		return false, nil, nil
	})
	conflicts, ended := 0, true
	client.PrependReactor("patch", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		switch {
		case ended:
			return true, nil, errors.New("the process has ended")
		case conflicts == 0:
			conflicts++
			return true, nil, apierrors.NewConflict(corev1.Resource("nodes"), "a", errors.New("changed"))
		default:
			return false, nil, nil
		}
	})
	nodes := untainted{client.CoreV1().Nodes()}
	node := func(name string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{others}}}
	}
	taints := func(name string) []corev1.Taint {
		found, err := nodes.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		return found.Spec.Taints
	}

	require.NoError(t, nodes.takeOver(t.Context(), "a"), "there is none")
	_, err := nodes.Create(t.Context(), node("a"), metav1.CreateOptions{})
	require.EqualError(t, err, "the process has ended")
	assert.Equal(t, []corev1.Taint{others, notReady}, taints("a"))

	ended = false
	require.NoError(t, nodes.takeOver(t.Context(), "a"))
	assert.Equal(t, []corev1.Taint{others}, taints("a"))
	created, err := nodes.Create(t.Context(), node("b"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, []corev1.Taint{others}, created.Spec.Taints)
	assert.Equal(t, []corev1.Taint{others}, taints("b"))
}
