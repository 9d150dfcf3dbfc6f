package manager

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// The role bindings of a watched namespace go with it. A manager that starts afterwards works in the other namespaces.
func TestAManagerStartsWithoutADeletedNamespace(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
	rules, err := rbac.ReadFile(filepath.Join(binary.Root(t), "config/rbac/operator-jobflow.yaml"))
	require.NoError(t, err)
	meta, user := metav1.ObjectMeta{Namespace: p.Namespace, Name: "manager"}, "manager-of-"+p.Namespace
	require.NoError(t, p.Client.Create(t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}))
	require.NoError(t, p.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}))
	config, err := clientcmd.LoadFromFile(testcluster.Kubeconfig(t))
	require.NoError(t, err)
	for _, is := range config.AuthInfos {
		is.Impersonate = user
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, clientcmd.WriteToFile(*config, kubeconfig))

	manager := binary.Start(t, "manager", "--kubeconfig", kubeconfig, "--watch-namespaces", p.Namespace+",deleted", "--operators=jobflow",
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false", "--rollout-max-owners=0", "--undo=false")
	require.NoError(t, p.Client.Create(t.Context(), &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "f"},
		Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", "true")}}}))
	flow := &v1alpha1.JobFlow{}
	p.Eventually("the manager works on the flow", func() bool {
		p.Get("f", flow)
		return flow.Status.State != ""
	})
	require.Contains(t, manager.Log.String(), "namespace=deleted")
}
