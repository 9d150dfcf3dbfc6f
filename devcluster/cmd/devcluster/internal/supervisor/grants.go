package supervisor

import (
	"context"
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/pki"
)

// grantNodes gives the processes that run nodes their rights. One process runs many nodes with one identity,
// which the Node authorizer (one user for each node) has no place for. So their group is bound to the cluster
// role system:node instead, the rights that a kubelet had before that authorizer was made, and to a role of
// our own with what such a process needs beyond a kubelet: it watches the leases of all its nodes. The API
// server's own identity towards the nodes gets the role made for it, and CoreDNS what it reads.
func (s *Supervisor) grantNodes(ctx context.Context) error {
	node := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: pki.NodesGroup},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"update", "patch"}},
		},
	}
	dns := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: pki.CoreDNSUser},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"services", "namespaces", "pods"}, Verbs: []string{"list", "watch"}},
			{APIGroups: []string{"discovery.k8s.io"}, Resources: []string{"endpointslices"}, Verbs: []string{"list", "watch"}},
		},
	}
	roles := s.admin.RbacV1().ClusterRoles()
	for _, role := range []*rbacv1.ClusterRole{node, dns} {
		_, err := roles.Create(ctx, role, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			_, err = roles.Update(ctx, role, metav1.UpdateOptions{})
		}
		if err != nil {
			return fmt.Errorf("cluster role %s: %w", role.Name, err)
		}
	}
	nodes := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: pki.NodesGroup}
	apiServer := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: pki.KubeletClient}
	coreDNS := rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: pki.CoreDNSUser}
	for _, b := range []struct {
		name, role string
		subject    rbacv1.Subject
	}{
		{pki.NodesGroup, pki.NodesGroup, nodes},
		{pki.NodesGroup + ":node", "system:node", nodes},
		{pki.KubeletClient, "system:kubelet-api-admin", apiServer},
		{pki.CoreDNSUser, pki.CoreDNSUser, coreDNS},
	} {
		_, err := s.admin.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: b.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: b.role},
			Subjects:   []rbacv1.Subject{b.subject},
		}, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("cluster role binding %s: %w", b.name, err)
		}
	}
	return nil
}
