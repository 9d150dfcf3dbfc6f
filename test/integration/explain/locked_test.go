package explain

import (
	"context"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/testcluster"
)

// manageLocked runs a manager for JobFlows that may read everything and write their status, and may create nothing.
func (p *place) manageLocked() {
	p.T.Helper()
	const user = "system:serviceaccount:armature-system:locked"
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "locked-" + p.locked}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"api.practice.com"}, Resources: []string{"jobflows/status"}, Verbs: []string{"patch"}},
		{APIGroups: []string{"events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}},
	}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
	}
	for _, obj := range []client.Object{role, binding} {
		require.NoError(p.T, p.Client.Create(context.Background(), obj))
		p.clean(obj)
	}
	config := testcluster.Config(p.T)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	options := p.Options()
	options.Cache.DefaultNamespaces = map[string]cache.Config{p.locked: {}}
	mgr := p.NewManager(config, options)
	require.NoError(p.T, jobflow.Setup(mgr))
	p.Start(mgr)
}
