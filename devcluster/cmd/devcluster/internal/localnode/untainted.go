package localnode

import (
	"context"
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"
)

// untainted is a client that creates nodes without a taint. The API server adds the taint not-ready to every new node. The node lifecycle
// controller removes it, but a cluster may run without that controller.
type untainted struct {
	typedcorev1.NodeInterface
}

// Create creates the node and removes the taint. The nodes of this package are ready from the start.
func (u untainted) Create(ctx context.Context, node *corev1.Node, opts metav1.CreateOptions) (*corev1.Node, error) {
	created, err := u.NodeInterface.Create(ctx, node, opts)
	if err != nil || !slices.ContainsFunc(created.Spec.Taints, isOfNewNode) {
		return created, err
	}
	return u.untaint(ctx, node.Name)
}

// takeOver removes the taint from a node of an earlier process, which may have ended between its two requests. A missing node is no error.
func (u untainted) takeOver(ctx context.Context, name string) error {
	_, err := u.untaint(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// untaint removes the taint of a new node. It leaves other taints, which may be of a user.
func (u untainted) untaint(ctx context.Context, name string) (node *corev1.Node, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() (err error) {
		if node, err = u.Get(ctx, name, metav1.GetOptions{}); err != nil {
			return err
		}
		if !slices.ContainsFunc(node.Spec.Taints, isOfNewNode) {
			return nil
		}
		patch, err := json.Marshal(map[string]any{
			"metadata": map[string]any{"resourceVersion": node.ResourceVersion},
			"spec":     map[string]any{"taints": slices.DeleteFunc(node.Spec.Taints, isOfNewNode)},
		})
		if err != nil {
			return err
		}
		node, err = u.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
	return node, err
}

// isOfNewNode reports whether a taint is the one that the API server adds to a new node.
func isOfNewNode(taint corev1.Taint) bool {
	return taint.Key == corev1.TaintNodeNotReady && taint.Effect == corev1.TaintEffectNoSchedule
}
