package fakenode

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// parallel is how many nodes are written at the same time.
const parallel = 32

const prefix = "fake-"

// Name is the name of the i-th fake node.
func Name(i int) string { return prefix + strconv.Itoa(i) }

// IsName tells whether a node of this name is a fake one. Local nodes can't be called so.
func IsName(name string) bool {
	n, err := strconv.Atoi(strings.TrimPrefix(name, prefix))
	return err == nil && n >= 0 && name == Name(n)
}

// Create makes the first n fake nodes, those that don't exist yet.
func Create(ctx context.Context, config *rest.Config, n int) error {
	if n == 0 {
		return nil
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	existing, err := names(ctx, client)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		if existing[Name(i)] {
			continue
		}
		group.Go(func() error {
			if err := create(ctx, client, newNode(i)); err != nil {
				return fmt.Errorf("create node %s: %w", Name(i), err)
			}
			return nil
		})
	}
	return group.Wait()
}

// create makes the node and takes off the taint that the API server puts on every new node. The controller
// manager would do that too, but a few at a time: it is most of what thousands of nodes have to wait for.
func create(ctx context.Context, client kubernetes.Interface, node *corev1.Node) error {
	created, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) || err == nil && len(created.Spec.Taints) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
	return err
}

// DeleteBeyond deletes the fake nodes that are not among the first n.
func DeleteBeyond(ctx context.Context, client kubernetes.Interface, n int) error {
	existing, err := names(ctx, client)
	if err != nil {
		return err
	}
	for i := range n {
		delete(existing, Name(i))
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for name := range existing {
		group.Go(func() error {
			err := client.CoreV1().Nodes().Delete(ctx, name, metav1.DeleteOptions{})
			if err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("delete node %s: %w", name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func names(ctx context.Context, client kubernetes.Interface) (map[string]bool, error) {
	list, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: Label})
	if err != nil {
		return nil, fmt.Errorf("list fake nodes: %w", err)
	}
	names := map[string]bool{}
	for _, node := range list.Items {
		names[node.Name] = true
	}
	return names, nil
}
