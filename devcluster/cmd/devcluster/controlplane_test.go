package main

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// A service account's token says who one is; RBAC says what one may do.
func TestServiceAccountsAndRBAC(t *testing.T) {
	c := sharedCluster(t)
	admin, ctx := c.client(t), t.Context()
	const ns = "accounts"
	_, err := admin.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.CoreV1().ServiceAccounts(ns).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := admin.CoreV1().ServiceAccounts(ns).CreateToken(ctx, "reader", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)

	// Only the CA and the token: what a pod has.
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	var root *corev1.ConfigMap
	eventually(t, func() error {
		root, err = admin.CoreV1().ConfigMaps(ns).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
		return err
	})
	reader, err := kubernetes.NewForConfig(&rest.Config{
		Host: config.Host, BearerToken: token.Status.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(root.Data["ca.crt"])},
	})
	require.NoError(t, err)
	_, err = reader.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
	require.True(t, apierrors.IsForbidden(err), "%v", err)

	_, err = admin.RbacV1().RoleBindings(ns).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: ns, Name: "reader"}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, func() error {
		_, err := reader.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		return err
	})
	_, err = reader.CoreV1().Secrets(ns).List(ctx, metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
	assert.NoError(t, admin.CoreV1().Namespaces().Delete(ctx, ns, metav1.DeleteOptions{}))
}

// Nobody without a certificate or token gets in.
func TestStrangersAreRefused(t *testing.T) {
	c := sharedCluster(t)
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	stranger, err := kubernetes.NewForConfig(rest.AnonymousClientConfig(config))
	require.NoError(t, err)
	_, err = stranger.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	assert.True(t, apierrors.IsForbidden(err), "%v", err)
}

func TestGarbageIsCollected(t *testing.T) {
	c := sharedCluster(t)
	maps, ctx := c.client(t).CoreV1().ConfigMaps("default"), t.Context()
	owner, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name:            "owned",
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}},
	}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, maps.Delete(ctx, owner.Name, metav1.DeleteOptions{}))
	eventually(t, func() error {
		if _, err := maps.Get(ctx, "owned", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("owned is still there"), err)
		}
		return nil
	})
}

// A pod on a local node is a process of this machine, and its log can be read through the API server.
func TestLocalPodRunsAndLogs(t *testing.T) {
	c := sharedCluster(t)
	pods, ctx := c.client(t).CoreV1().Pods("default"), t.Context()
	_, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "local"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			NodeSelector:  map[string]string{"devcluster.armature.dev/local": "true"},
			Containers:    []corev1.Container{{Name: "c", Image: "none", Command: []string{"sh", "-c", "echo it runs"}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	eventually(t, func() error {
		pod, err := pods.Get(ctx, "local", metav1.GetOptions{})
		if err == nil && pod.Status.Phase != corev1.PodSucceeded {
			err = fmt.Errorf("pod is %s", pod.Status.Phase)
		}
		return err
	})
	assert.Equal(t, "it runs\n", c.run(t, "kubectl", "logs", "local"))
	require.NoError(t, pods.Delete(ctx, "local", metav1.DeleteOptions{}))
}
