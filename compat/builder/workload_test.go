package builder_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/armature-dev/armature/compat/builder"
	"github.com/armature-dev/armature/compat/utils"
)

func reconcileWorkloads(s *server, cr *corev1.ConfigMap, items ...builder.BuilderDeploymentStatefulSet) (controllerutil.OperationResult, error) {
	return newBuilder(s, cr, builder.ToNewBuilderDeploymentStatefulSet(items)).ReconcileDeployOrSts()
}

// The original knew "Deployment" and "Statefulset", and made nothing of others, without a word.
func TestKinds(t *testing.T) {
	for kind, like := range map[string]client.Object{
		"Deployment": &appsv1.Deployment{}, "deployment": &appsv1.Deployment{},
		"Statefulset": &appsv1.StatefulSet{}, "StatefulSet": &appsv1.StatefulSet{}, "STATEFULSET": &appsv1.StatefulSet{},
	} {
		t.Run(kind, func(t *testing.T) {
			s, cr := newServer(t), newCR("cr")
			result, err := reconcileWorkloads(s, cr, workload(s, cr, kind, "web"))
			require.NoError(t, err)
			require.Equal(t, controllerutil.OperationResultCreated, result)
			require.True(t, s.has(like, "web"))
		})
	}
	for _, kind := range []string{"DaemonSet", "sts", ""} {
		t.Run("not "+kind, func(t *testing.T) {
			s, cr := newServer(t), newCR("cr")
			_, err := reconcileWorkloads(s, cr, workload(s, cr, kind, "web"))
			require.ErrorContains(t, err, `default/web has Kind "`+kind+`"; it must be Deployment or StatefulSet`)
		})
	}
}

func TestDeployment(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	item := workload(s, cr, "Deployment", "web")
	item.Labels = map[string]string{"app": "x"}
	item.Replicas = 3
	_, err := reconcileWorkloads(s, cr, item)
	require.NoError(t, err)
	d := &appsv1.Deployment{}
	require.True(t, s.has(d, "web"))
	require.Equal(t, map[string]string{"custom_resource": "cr"}, d.Spec.Selector.MatchLabels)
	require.Equal(t, map[string]string{"custom_resource": "cr", "app": "x"}, d.Spec.Template.Labels)
	require.EqualValues(t, 3, *d.Spec.Replicas)
	require.Equal(t, map[string]string{"app": "x"}, item.Labels)
	require.True(t, metav1.IsControlledBy(d, cr))
}

func TestStatefulSet(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	item := workload(s, cr, "StatefulSet", "db")
	item.ServiceName = "db-headless"
	item.VolumeClaimTemplate = []builder.BuilderStorageConfig{{CommonBuilder: common(s, cr, "data"), PvcSpec: &corev1.PersistentVolumeClaimSpec{}}}
	_, err := reconcileWorkloads(s, cr, item)
	require.NoError(t, err)
	sts := &appsv1.StatefulSet{}
	require.True(t, s.has(sts, "db"))
	require.Equal(t, item.Labels, sts.Spec.Selector.MatchLabels)
	require.Equal(t, "db-headless", sts.Spec.ServiceName)
	require.Len(t, sts.Spec.VolumeClaimTemplates, 1)
	require.Equal(t, "data", sts.Spec.VolumeClaimTemplates[0].Name)

	made, err := item.MakeStatefulSet()
	require.NoError(t, err)
	require.Equal(t, "StatefulSet", made.Kind)
	require.Equal(t, "apps/v1", made.APIVersion)
	require.Len(t, item.MakeVolumeClaimTemplates(), 1)
	item.VolumeClaimTemplate[0].PvcSpec = nil
	require.Empty(t, item.MakeVolumeClaimTemplates())
	_, err = reconcileWorkloads(s, cr, item)
	require.ErrorContains(t, err, "PersistentVolumeClaim default/data has no PvcSpec")
}

func TestHashesRollThePods(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	data := map[string]string{"a": "1"}
	reconcile := func() (web, db map[string]string) {
		cm := configMap(s, cr, "config", data)
		two := workload(s, cr, "Deployment", "web")
		two.PodSpec.Containers = append(two.PodSpec.Containers, corev1.Container{
			Name: "own", Image: "app:1", Env: []corev1.EnvVar{{Name: "config", Value: "set by the operator"}},
		})
		b := newBuilder(s, cr,
			builder.ToNewBuilderConfigMap([]builder.BuilderConfigMap{cm}),
			builder.ToNewBuilderConfigMapHash([]builder.BuilderConfigMapHash{{Object: &corev1.ConfigMap{ObjectMeta: cm.ObjectMeta, Data: cm.Data}}}),
			builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{two, workload(s, cr, "StatefulSet", "db")}))
		_, err := b.ReconcileDeployOrSts()
		require.NoError(t, err)
		hashes, err := b.ReconcileConfigMapHash()
		require.NoError(t, err)
		d, sts := &appsv1.Deployment{}, &appsv1.StatefulSet{}
		require.True(t, s.has(d, "web"))
		require.True(t, s.has(sts, "db"))
		require.Empty(t, workload(s, cr, "StatefulSet", "db").PodSpec.Containers[0].Env)
		require.Equal(t, []corev1.EnvVar{{Name: "config", Value: hashes[0].HashVaule}}, d.Spec.Template.Spec.Containers[0].Env)
		require.Equal(t, []corev1.EnvVar{{Name: "config", Value: "set by the operator"}}, d.Spec.Template.Spec.Containers[1].Env)
		return env(d.Spec.Template), env(sts.Spec.Template)
	}
	web, db := reconcile()
	s.writes()
	again, _ := reconcile()
	require.Equal(t, web, again)
	require.Zero(t, s.writes())
	data["a"] = "2"
	web2, db2 := reconcile()
	require.NotEqual(t, web, web2)
	require.NotEqual(t, db, db2)
}

func env(template corev1.PodTemplateSpec) map[string]string {
	vars := map[string]string{}
	for _, e := range template.Spec.Containers[0].Env {
		vars[e.Name] = e.Value
	}
	return vars
}

// The API server creates a list with two variables of a name, but refuses to apply it.
func TestVariablesOfOneName(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	item := workload(s, cr, "Deployment", "web")
	given := []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "B", Value: "$(A)"}, {Name: "A", Value: "2"}}
	item.PodSpec.Containers[0].Env = given
	item.PodSpec.InitContainers = []corev1.Container{{Name: "init", Image: "app:1", Env: given}}
	_, err := reconcileWorkloads(s, cr, item)
	require.NoError(t, err)
	d := &appsv1.Deployment{}
	require.True(t, s.has(d, "web"))
	want := []corev1.EnvVar{{Name: "A", Value: "2"}, {Name: "B", Value: "$(A)"}}
	require.Equal(t, want, d.Spec.Template.Spec.Containers[0].Env)
	require.Equal(t, want, d.Spec.Template.Spec.InitContainers[0].Env)
	require.Len(t, item.PodSpec.Containers[0].Env, 3)
}

func TestNilObjectToHash(t *testing.T) {
	s, cr := newServer(t), newCR("cr")
	b := newBuilder(s, cr, builder.ToNewBuilderConfigMapHash([]utils.ConfigMapHash{{}}),
		builder.ToNewBuilderDeploymentStatefulSet([]builder.BuilderDeploymentStatefulSet{workload(s, cr, "Deployment", "web")}))
	_, err := b.ReconcileDeployOrSts()
	require.ErrorContains(t, err, "ConfigMapHash[0].Object is nil")
}
