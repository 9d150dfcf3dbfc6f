package supervisor

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/fakenode"
)

// prepareNodes gives the nodes' identities their rights, and clears away what an earlier run left of nodes.
func (s *Supervisor) prepareNodes(ctx context.Context) error {
	if err := s.grantNodes(ctx); err != nil {
		return startError(ctx, fmt.Errorf("rights of the nodes: %w", err))
	}
	if err := s.prepareLocalNodes(ctx); err != nil {
		return startError(ctx, fmt.Errorf("nodes of an earlier run: %w", err))
	}
	if err := fakenode.DeleteBeyond(ctx, s.admin, s.settings.FakeNodes); err != nil {
		return startError(ctx, fmt.Errorf("fake nodes of an earlier run: %w", err))
	}
	return nil
}

// prepareLocalNodes deletes nodes that are no longer asked for, and marks the others as not ready until their
// process says otherwise: else `up` would believe what the last run wrote.
func (s *Supervisor) prepareLocalNodes(ctx context.Context) error {
	nodes, err := s.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: NodeLabel(s.settings)})
	if err != nil {
		return err
	}
	const notReady = `{"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"ClusterStarting"}]}}`
	for _, node := range nodes.Items {
		if slices.Contains(s.settings.Nodes, node.Name) {
			_, err = s.admin.CoreV1().Nodes().Patch(ctx, node.Name, types.StrategicMergePatchType, []byte(notReady), metav1.PatchOptions{}, "status")
		} else {
			err = s.admin.CoreV1().Nodes().Delete(ctx, node.Name, metav1.DeleteOptions{})
		}
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("node %s: %w", node.Name, err)
		}
	}
	return nil
}

// releaseLeases deletes the nodes' leases. kwok takes a new identity at each start, and would wait until the
// leases of its last one run out.
func (s *Supervisor) releaseLeases(ctx context.Context) error {
	err := s.admin.CoordinationV1().Leases(corev1.NamespaceNodeLease).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete the leases of an earlier run: %w", err)
	}
	return nil
}

// nodesReady tells whether every node is ready and free of the taint that new nodes carry.
func (s *Supervisor) nodesReady(ctx context.Context) error {
	local, err := s.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: NodeLabel(s.settings), ResourceVersion: "0"})
	if err != nil {
		return err
	}
	if err := allReady(local.Items, len(s.settings.Nodes), nodeKind(s.settings)); err != nil {
		if s.settings.Containers {
			return fmt.Errorf("%w; their kubelets' logs are %s", err, filepath.Join(s.dir.Node("*"), "var", "log", "kubelet.log"))
		}
		return err
	}
	if s.settings.FakeNodes == 0 {
		return nil
	}
	fake, err := s.admin.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: fakenode.Label, ResourceVersion: "0"})
	if err != nil {
		return err
	}
	if err := allReady(fake.Items, s.settings.FakeNodes, "fake"); err != nil {
		return err
	}
	// Nodes of an earlier run look ready. A lease, of which we left none, shows that kwok runs the node now.
	leases, err := s.admin.CoordinationV1().Leases(corev1.NamespaceNodeLease).List(ctx, metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return err
	}
	held := 0
	for _, lease := range leases.Items {
		if fakenode.IsName(lease.Name) {
			held++
		}
	}
	if held < s.settings.FakeNodes {
		return fmt.Errorf("%d of %d fake nodes have a lease", held, s.settings.FakeNodes)
	}
	return nil
}

func allReady(nodes []corev1.Node, want int, kind string) error {
	ready, waiting := 0, ""
	for i := range nodes {
		if isReady(&nodes[i]) {
			ready++
		} else if waiting == "" {
			waiting = ", " + nodes[i].Name + " is not"
		}
	}
	if ready < want {
		return fmt.Errorf("%d of %d %s nodes are ready%s", ready, want, kind, waiting)
	}
	return nil
}

func isReady(node *corev1.Node) bool {
	for _, t := range node.Spec.Taints {
		if t.Key == corev1.TaintNodeNotReady || t.Key == corev1.TaintNodeUnreachable {
			return false
		}
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
