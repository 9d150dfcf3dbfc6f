package manager

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

// The role bindings of a watched namespace go with it. A manager that starts afterwards works in the other namespaces.
func TestAManagerStartsWithoutADeletedNamespace(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
	rules, err := rbac.ReadFile(filepath.Join(binary.Root(t), "config/rbac/operator-jobflow.yaml"))
	require.NoError(t, err)
	kubeconfig := harness.KubeconfigFor(t, p.Client, p.Namespace, rules)
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
