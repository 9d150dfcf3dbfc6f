package harness

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/test/testcluster"
)

// KubeconfigFor returns the kubeconfig file of a user with permissions in one namespace only.
func KubeconfigFor(t *testing.T, c client.Client, namespace string, rules []rbacv1.PolicyRule) string {
	t.Helper()
	meta, user := metav1.ObjectMeta{Namespace: namespace, Name: "manager"}, "manager-of-"+namespace
	require.NoError(t, c.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}))
	require.NoError(t, c.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}))
	config, err := clientcmd.LoadFromFile(testcluster.Kubeconfig(t))
	require.NoError(t, err)
	for _, is := range config.AuthInfos {
		is.Impersonate = user
	}
	file := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, file))
	return file
}
