//go:build e2e

package e2e

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// operate installs the operator of an example as its README tells, the CRDs first, and runs it as a container. It has the
// permissions of the example's role.yaml and no others; at the end it must not have been refused anything.
func (s *space) operate(program, image string) {
	s.Helper()
	example := filepath.Join(root, "examples", program)
	s.kubectl("apply", "--server-side", "--filename", filepath.Join(example, "config"))
	s.await("Established", "--filename="+filepath.Join(example, "config"))

	name := program + "-operator"
	for _, obj := range append(permissions(s, filepath.Join(example, "role.yaml"), name), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": name}},
				Spec: corev1.PodSpec{
					ServiceAccountName: name,
					Containers: []corev1.Container{{
						Name: "operator", Image: image, Command: []string{program},
						SecurityContext: &corev1.SecurityContext{
							RunAsNonRoot: new(true), RunAsUser: ptr.To[int64](65532),
							AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
						},
					}},
				},
			},
		},
	}) {
		require.NoError(s, cluster.Create(s.Context(), obj))
		s.Cleanup(func() { _ = cluster.Delete(context.Background(), obj) })
	}
	s.Cleanup(func() { s.assertNeverRefused(name) })
	s.await("Available", "deployment/"+name)
}

// permissions are the ClusterRole of a file, under a name of the namespace's own, a service account, and what binds the two.
func permissions(s *space, file, account string) []client.Object {
	s.Helper()
	text, err := os.ReadFile(file)
	require.NoError(s, err)
	role := &rbacv1.ClusterRole{}
	require.NoError(s, yaml.UnmarshalStrict(text, role))
	role.Name = s.name + "-" + account
	return []client.Object{
		role,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: account}},
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: role.Name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.name, Name: account}},
		},
	}
}

// assertNeverRefused fails if an operator's pod was started again, or was forbidden something.
func (s *space) assertNeverRefused(name string) {
	s.Helper()
	pods := &corev1.PodList{}
	require.NoError(s, cluster.List(context.Background(), pods, client.InNamespace(s.name), client.MatchingLabels{"app": name}))
	for _, pod := range pods.Items {
		for _, c := range pod.Status.ContainerStatuses {
			assert.Zero(s, c.RestartCount, "%s was started again", pod.Name)
		}
		var said string
		within(s.T, "the logs of "+pod.Name, func() (err error) {
			said, err = kubectl("logs", "--namespace", s.name, pod.Name)
			return err
		})
		for line := range strings.Lines(said) {
			assert.NotContains(s, line, "forbidden")
		}
	}
}

// applyWith applies a manifest of the repository with words replaced, such as an image's name by one with a tag: an image
// without one would be looked for in a registry.
func (s *space) applyWith(example string, replace ...string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join(root, "examples", example))
	require.NoError(s, err)
	for i := 0; i < len(replace); i += 2 {
		require.Contains(s, string(text), replace[i], example)
	}
	s.applyText(example, strings.NewReplacer(replace...).Replace(string(text)))
}

// applyText applies the text that an example has become.
func (s *space) applyText(example, text string) {
	s.Helper()
	applied.Store(example, true)
	manifest := filepath.Join(s.TempDir(), "manifest.yaml")
	require.NoError(s, os.WriteFile(manifest, []byte(text), 0o600))
	_, err := kubectl("apply", "--namespace", s.name, "--filename", manifest)
	require.NoError(s, err)
}
