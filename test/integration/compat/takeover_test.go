package compat

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/compat/builder"
)

// hashOfOriginal is where the original wrote its hash, for an owner that is a ConfigMap.
const hashOfOriginal = "ConfigMapOperatorHash"

// asOriginal writes an object as the original did: by create, with its own hash, as whatever the program is called.
func (p *place) asOriginal(cr *corev1.ConfigMap, obj client.Object) {
	p.t.Helper()
	obj.SetNamespace(p.namespace)
	metav1.SetMetaDataAnnotation(obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta), hashOfOriginal, "c2hhMQ==")
	ref := *makeOwnerRef(cr)
	obj.SetOwnerReferences([]metav1.OwnerReference{ref})
	require.NoError(p.t, p.client.Create(p.t.Context(), obj))
}

// Objects that the original made are taken over: what is no longer wanted in them goes, what others or the server set
// stays, and no object is replaced.
func TestTakeOver(t *testing.T) {
	p := newPlace(t)
	cr := p.cr("my", twoNodes())
	ib := internalBuilder{cr: cr, ownerRef: makeOwnerRef(cr), commonLabels: map[string]string{"app": "cluster", "custom_resource": "my"}}

	web := ib.makeStsOrDeploy(node{"web", "Deployment"}, nil)
	web.PodSpec.Containers[0].Env = append(web.PodSpec.Containers[0].Env, corev1.EnvVar{Name: "OLD", Value: "x"})
	podLabels := map[string]string{"app": "cluster", "custom_resource": "my", "node": "web"}
	p.asOriginal(cr, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "my-web", Labels: map[string]string{"app": "cluster", "old": "x"}},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](2),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"custom_resource": "my"}},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: podLabels}, Spec: *web.PodSpec},
		}})
	db, err := ib.makeStsOrDeploy(node{"db", "Statefulset"}, nil).MakeStatefulSet()
	require.NoError(t, err)
	p.asOriginal(cr, db)
	svc := ib.makeService(node{"web", "Deployment"})
	old := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "my-web-svc"}, Spec: *svc.ServiceSpec}
	old.Spec.Selector = svc.SelectorLabels
	p.asOriginal(cr, old)
	p.asOriginal(cr, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "my-web-config"}, Data: map[string]string{"node.conf": "w1", "old.conf": "x"}})
	p.asOriginal(cr, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "stale", Labels: ib.commonLabels}})
	change(p, &appsv1.Deployment{}, "my-web", func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, "theirs", "x") })

	p.reconcile(cr)
	d := get(p, &appsv1.Deployment{}, "my-web")
	require.Empty(t, variableOf(d.Spec.Template.Spec, "OLD"))
	require.NotContains(t, d.Labels, "old")
	require.NotContains(t, d.Annotations, hashOfOriginal)
	require.Equal(t, "x", d.Annotations["theirs"])
	require.Equal(t, map[string]string{"node.conf": "w1"}, get(p, &corev1.ConfigMap{}, "my-web-config").Data)
	now := get(p, &corev1.Service{}, "my-web-svc")
	require.Equal(t, old.UID, now.UID)
	require.Equal(t, old.Spec, now.Spec)
	require.Equal(t, db.UID, get(p, &appsv1.StatefulSet{}, "my-db").UID)
	require.False(t, p.exists(&corev1.ConfigMap{}, "stale"))

	p.writes()
	p.reconcile(cr)
	require.Zero(t, p.writes())
}

// Claims, whose spec is immutable once it is bound, and claim templates, which always are.
func TestStorage(t *testing.T) {
	p := newPlace(t)
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: "compat-", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner: "example.com/none", AllowVolumeExpansion: new(true),
	}
	require.NoError(t, p.client.Create(t.Context(), class))
	t.Cleanup(func() { _ = p.client.Delete(context.WithoutCancel(t.Context()), class) })
	cr := p.cr("my", nil)
	ib := internalBuilder{cr: cr, client: p.operator.Client, ownerRef: makeOwnerRef(cr)}
	spec := func() *corev1.PersistentVolumeClaimSpec {
		return &corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}
	}
	p.asOriginal(cr, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: *spec()})
	sts := ib.makeStsOrDeploy(node{"db", "Statefulset"}, nil)
	sts.VolumeClaimTemplate = []builder.BuilderStorageConfig{{CommonBuilder: ib.common("data"), PvcSpec: spec()}}
	sts.Labels["custom_resource"] = "my"
	made, err := sts.MakeStatefulSet()
	require.NoError(t, err)
	made.Spec.VolumeClaimTemplates = sts.MakeVolumeClaimTemplates()
	p.asOriginal(cr, made)

	labels := map[string]string{"app": "cluster"}
	claim := func(name string) builder.BuilderStorageConfig {
		c := builder.BuilderStorageConfig{CommonBuilder: ib.common(name), PvcSpec: spec()}
		c.ObjectMeta.Labels = labels
		return c
	}
	reconcile := func() controllerutil.OperationResult {
		build := builder.NewBuilder(
			builder.ToNewBuilderStorageConfig([]builder.BuilderStorageConfig{claim("old"), claim("new")}),
			builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{*sts}))
		result, err := build.ReconcileStorage()
		require.NoError(t, err)
		p.pass(func() error {
			_, err := build.ReconcileDeployOrSts()
			return err
		})
		return result
	}
	p.eventually("the last write of the volume controller before the take-over", func() bool {
		return get(p, &corev1.PersistentVolumeClaim{}, "old").Annotations["volume.kubernetes.io/storage-provisioner"] != ""
	})
	require.Equal(t, controllerutil.OperationResultCreated, reconcile())
	require.Equal(t, class.Name, *get(p, &corev1.PersistentVolumeClaim{}, "new").Spec.StorageClassName)
	p.writes()
	require.Equal(t, controllerutil.OperationResultNone, reconcile())
	require.Zero(t, p.writes())

	labels["more"] = "x"
	require.Equal(t, controllerutil.OperationResultUpdated, reconcile())
	for _, name := range []string{"old", "new"} {
		claim := get(p, &corev1.PersistentVolumeClaim{}, name)
		require.Equal(t, "x", claim.Labels["more"])
		require.Equal(t, class.Name, *claim.Spec.StorageClassName)
		require.NotContains(t, claim.Annotations, hashOfOriginal)
	}
}
