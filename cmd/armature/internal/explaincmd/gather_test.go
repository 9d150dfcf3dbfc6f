package explaincmd

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/diagnose"
	"github.com/armature-dev/armature/cmd/armature/internal/family"
)

// A viewer who may read a pod only.
func TestWhatMayNotBeReadIsSaid(t *testing.T) {
	forbid := func(resource string) error {
		return apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", nil)
	}
	c := interceptor.NewClient(fake.NewClientBuilder().Build(), interceptor.Funcs{
		List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
			return forbid(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", list), "*v1."), "List")) + "s")
		},
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return forbid("secrets")
		},
	})
	explain := func(pod *corev1.Pod) Explanation {
		pod.CreationTimestamp = metav1.NewTime(now.Add(-1))
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
		require.NoError(t, err)
		root := &unstructured.Unstructured{Object: content}
		root.SetAPIVersion("v1")
		root.SetKind("Pod")
		found, err := Of(t.Context(), &connect.Cluster{Client: c}, family.Family{Root: &family.Member{Unstructured: root}}, "", now)
		require.NoError(t, err)
		return found
	}
	unread := func(e Explanation) (all []string) {
		for _, err := range e.Unread {
			what, _, _ := strings.Cut(err.Error(), ":")
			all = append(all, what)
		}
		return all
	}

	runs := explain(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	assert.Equal(t, []string{"list events", "list nodes"}, unread(runs))
	assert.True(t, runs.Unsure)
	assert.Equal(t, diagnose.Running, runs.Finding.Phase)
	assert.Contains(t, runs.Finding.Message, "; but not all of its objects could be read")

	starts := explain(&corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: corev1.PodStatus{Phase: corev1.PodPending},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{
			{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
			{Name: "key", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "key"}}},
		}},
	})
	assert.Equal(t, []string{"list events", "list nodes", "list persistentvolumeclaims", "get Secret/key"}, unread(starts))
	assert.True(t, starts.Unsure)
}
