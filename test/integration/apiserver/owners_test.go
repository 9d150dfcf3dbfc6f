package apiserver

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 120 * time.Second

// specs are an owner of each kind that has children, by kind.
var specs = map[string]string{
	"JobFlow":     `{flows: [{name: a, jobTemplate: {template: ` + template + `}}]}`,
	"DaemonJob":   `{template: ` + template + `}`,
	"ReplicaJob":  `{replicaSpecs: {Worker: {template: ` + template + `}}}`,
	"MiniCluster": `{size: 1, containers: [{image: none, command: "true"}]}`,
	"FluxJob":     `{queue: owners, miniCluster: {size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]}}`,
}

const template = `{spec: {restartPolicy: Never, containers: [{name: main, image: none, command: ["true"]}]}}`

// Where the admission plugin OwnerReferencesPermissionEnforcement is on, who sets an owner reference that blocks the owner's deletion
// needs the right to update the owner's finalizers. The operators' roles have it for each kind.
func TestOwnerReferencesPermissionEnforcement(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
	strict := testcluster.AnotherAPIServer(t, "--enable-admission-plugins=OwnerReferencesPermissionEnforcement")
	queue := objectOf(t, "FluxSetup", "", "owners", `{}`)
	require.NoError(t, p.Client.Create(t.Context(), queue))

	// The plugin is on: with the same roles but for the finalizers an owner reference is refused.
	flow := objectOf(t, "JobFlow", p.Namespace, "probe", `{suspend: true, flows: [{name: a, jobTemplate: {template: `+template+`}}]}`)
	require.NoError(t, p.Client.Create(t.Context(), flow))
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "probe", OwnerReferences: []metav1.OwnerReference{
		*metav1.NewControllerRef(flow, v1alpha1.GroupVersion.WithKind("JobFlow")),
	}}}
	p.MustKubectl("create", "clusterrole", "no-finalizers", "--verb=create", "--resource=configmaps")
	p.MustKubectl("create", "clusterrolebinding", "no-finalizers", "--clusterrole=no-finalizers", "--user=no-finalizers")
	without, err := client.New(as(strict, "no-finalizers"), client.Options{Scheme: p.Client.Scheme()})
	require.NoError(t, err)
	p.Eventually("the plugin refuses the reference", func() bool {
		err := without.Create(t.Context(), owned.DeepCopy())
		require.True(t, apierrors.IsForbidden(err), "%v", err)
		return strings.Contains(err.Error(), "cannot set blockOwnerDeletion") // before, its role isn't known yet
	})

	files, err := filepath.Glob(filepath.Join(binary.Root(t), "config/rbac/operator-*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		p.Apply(file)
		role := "armature-" + strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "operator-"), ".yaml")
		require.NoError(t, p.Client.Create(t.Context(), &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "operators"}},
		}))
	}
	mgr := p.NewManager(as(strict, "operators"), p.Options())
	require.NoError(t, jobflow.Setup(mgr))
	require.NoError(t, daemonjob.Setup(mgr))
	require.NoError(t, replicajob.Setup(mgr))
	require.NoError(t, minicluster.Setup(mgr))
	require.NoError(t, fluxjob.Setup(mgr, admission.Manager{Namespaces: []string{p.Namespace}}))
	p.Start(mgr)
	for kind, spec := range specs {
		require.NoError(t, p.Client.Create(t.Context(), objectOf(t, kind, p.Namespace, strings.ToLower(kind), spec)), kind)
	}
	blocking := map[string]bool{}
	p.Eventually("each kind has a child that blocks its deletion", func() bool {
		for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.PodList{}, &corev1.ServiceList{}, &corev1.SecretList{},
			&corev1.ConfigMapList{}, &v1alpha1.MiniClusterList{}} {
			require.NoError(t, p.Client.List(t.Context(), list, client.InNamespace(p.Namespace)))
			children, err := meta.ExtractList(list)
			require.NoError(t, err)
			for _, child := range children {
				if ref := metav1.GetControllerOf(child.(client.Object)); ref != nil && ptr.Deref(ref.BlockOwnerDeletion, false) {
					blocking[ref.Kind] = true
				}
			}
		}
		for kind := range specs {
			if !blocking[kind] {
				return false
			}
		}
		return true
	}, func() any { return blocking })
}

// as returns a connection that acts as a user.
func as(config *rest.Config, user string) *rest.Config {
	config = rest.CopyConfig(config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	return config
}

// objectOf returns an object of Armature's, with this spec.
func objectOf(t *testing.T, kind, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte("spec: "+spec), &obj.Object))
	obj.SetAPIVersion(v1alpha1.GroupVersion.String())
	obj.SetKind(kind)
	obj.SetNamespace(namespace)
	obj.SetName(name)
	return obj
}
