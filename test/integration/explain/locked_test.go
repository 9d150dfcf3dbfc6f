package explain

import (
	"context"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/test/testcluster"
)

// manageLocked runs a manager for JobFlows that may read everything and write their status, and may create nothing.
func (p *place) manageLocked() {
	p.t.Helper()
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
		require.NoError(p.t, p.client.Create(context.Background(), obj))
		p.clean(obj)
	}
	config := testcluster.Config(p.t)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  p.client.Scheme(),
		Metrics: server.Options{BindAddress: "0"},
		Cache:   cache.Options{DefaultNamespaces: map[string]cache.Config{p.locked: {}}},
		Client:  client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
	})
	require.NoError(p.t, err)
	require.NoError(p.t, jobflow.Setup(mgr, func(o *controller.Options) { o.SkipNameValidation = ptr.To(true) }))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	p.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			p.t.Errorf("manager: %v", err)
		}
	})
}
