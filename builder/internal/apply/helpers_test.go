package apply

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/marks"
	"github.com/armature-dev/armature/builder/internal/memory"
	"github.com/armature-dev/armature/builder/internal/sources"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

// owner is the owner of the tests' children.
func owner() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "owner-uid"}}
}

func config(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"a": "1"}}
}

// newCluster returns what a pass over the owner has of an engine on a fake client.
func newCluster(t *testing.T) *Cluster {
	fakeClient := fake.NewClientBuilder().WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme.Scheme)).Build()
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	children := &sources.Children{
		Reader: sources.Reader{From: fakeClient, Kinds: kinds.New(fakeClient, time.Now)}, Memory: memory.New(),
		Owner: owner(), OwnerKey: store.KeyOf(kind, "default", "owner"),
	}
	children.Marks = marks.Owner{
		UID: children.Owner.GetUID(), Key: children.OwnerKey, Manager: wellknown.FieldOwner, Proved: children.Memory.Marked,
	}
	return &Cluster{
		Children: children, OwnerKind: kind, Client: fakeClient, Live: fakeClient, Name: wellknown.FieldOwner, Now: time.Now, Parallelism: 1,
	}
}

// stamped returns a child as it is sent.
func stamped(t *testing.T, child Child) *Desired {
	c := newCluster(t)
	d, err := c.Desire(&child)
	require.NoError(t, err)
	require.NoError(t, d.Stamp(c))
	return d
}

func untyped(t *testing.T, obj client.Object, apiVersion, kind string) *unstructured.Unstructured {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

func entries(all ...metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry { return all }

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: "v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

// deployment is a Deployment as people write them.
func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app.kubernetes.io/name": name, "app.kubernetes.io/component": "server"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{
						Name: "web", Image: "nginx:1.29", Args: []string{"-g", "daemon off;"},
						Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
						Env:   []corev1.EnvVar{{Name: "MODE", Value: "production"}},
						Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
							corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi"),
						}},
						ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
							HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("http")},
						}},
						VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/etc/web"}},
					}},
					Volumes: []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
						ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}},
					}}},
				},
			},
		},
	}
}
