package localnode

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
)

// untainted is a client that creates nodes without a taint. The API server adds the taint not-ready to every new node. The node lifecycle
// controller removes it, but a cluster may run without that controller.
type untainted struct {
	typedcorev1.NodeInterface
}

// Create creates the node and removes the taint. The nodes of this package are ready from the start.
func (u untainted) Create(ctx context.Context, node *corev1.Node, opts metav1.CreateOptions) (*corev1.Node, error) {
	created, err := u.NodeInterface.Create(ctx, node, opts)
	if err != nil || len(created.Spec.Taints) == 0 {
		return created, err
	}
	return u.Patch(ctx, node.Name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
}
