package compat

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/compat/utils"
)

func twoNodes() map[string]string {
	return map[string]string{"nodes": "web=Deployment,db=StatefulSet", "config.web": "w1", "config.db": "d1"}
}

func TestCreateThenNothing(t *testing.T) {
	p := newPlace(t)
	cr := p.cr("my", twoNodes())
	p.reconcile(cr)
	require.Equal(t, 6, p.writes(), "one for each object")
	for range 3 {
		p.reconcile(cr)
	}
	require.Zero(t, p.writes())

	cm := get(p, &corev1.ConfigMap{}, "my-web-config")
	require.Equal(t, map[string]string{"node.conf": "w1"}, cm.Data)
	require.True(t, metav1.IsControlledBy(cm, cr))
	d := get(p, &appsv1.Deployment{}, "my-web")
	require.Equal(t, "production", variableOf(d.Spec.Template.Spec, "MODE"))
	require.Equal(t, "my-db-svc", get(p, &appsv1.StatefulSet{}, "my-db").Spec.ServiceName)
	require.Equal(t, "web", get(p, &corev1.Service{}, "my-web-svc").Spec.Selector["node"])

	// Also while the cluster's controllers work on them, and when they are done.
	p.eventually("pods", func() bool { return len(p.pods("my", "web", "MODE")["production"]) == 2 })
	p.reconcile(cr)
	require.Zero(t, p.writes())
	require.Equal(t, 6, strings.Count(p.told(), "Normal ClusterOperatorCreateObjectSuccess Created "))
}

// told returns the events since it was last called.
func (p *place) told() string {
	var told []string
	for {
		select {
		case e := <-p.events.Events:
			told = append(told, e)
		default:
			return strings.Join(told, "\n")
		}
	}
}

func TestDrift(t *testing.T) {
	p := newPlace(t)
	cr := p.cr("my", twoNodes())
	p.reconcile(cr)
	change(p, &appsv1.Deployment{}, "my-web", func(d *appsv1.Deployment) {
		d.Spec.Replicas = ptr.To[int32](5)
		d.Spec.Template.Spec.Containers[0].Image = "changed"
		d.Spec.RevisionHistoryLimit = ptr.To[int32](3) // a field that the operator says nothing of
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, "theirs", "x")
	})
	change(p, &corev1.Service{}, "my-web-svc", func(s *corev1.Service) { s.Spec.Selector["node"] = "other" })
	require.NoError(t, p.client.Delete(t.Context(), get(p, &corev1.ConfigMap{}, "my-db-config")))
	p.writes()
	p.told()
	p.reconcile(cr)
	require.Equal(t, 3, p.writes())
	d := get(p, &appsv1.Deployment{}, "my-web")
	require.EqualValues(t, 2, *d.Spec.Replicas)
	require.Equal(t, "cluster:1", d.Spec.Template.Spec.Containers[0].Image)
	require.EqualValues(t, 3, *d.Spec.RevisionHistoryLimit)
	require.Equal(t, "x", d.Annotations["theirs"])
	require.Equal(t, "web", get(p, &corev1.Service{}, "my-web-svc").Spec.Selector["node"])
	get(p, &corev1.ConfigMap{}, "my-db-config")
	told := p.told()
	require.Contains(t, told, "Normal ClusterOperatorUpdateObjectSuccess Updated Deployment.apps "+p.namespace+"/my-web")
	p.reconcile(cr)
	require.Zero(t, p.writes())
}

func TestConfigChangeRollsThePods(t *testing.T) {
	p := newPlace(t)
	data := twoNodes()
	p.reconcile(p.cr("my", data))
	hash := func(name, value string) string {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"node.conf": value}}
		hashes, err := utils.MakeConfigMapHash([]utils.ConfigMapHash{{Object: cm}})
		require.NoError(t, err)
		return hashes[0].HashVaule
	}
	ready := func(node, value string) func() bool {
		name := "my-" + node + "-config"
		return func() bool {
			pods := p.pods("my", node, name)
			return len(pods) == 1 && len(pods[hash(name, value)]) == 2
		}
	}
	p.eventually("first pods of web", ready("web", "w1"))
	p.eventually("first pods of db", ready("db", "d1"))
	untouched := p.pods("my", "db", "MODE")

	data["config.web"] = "w2"
	cr := p.cr("my", data)
	p.reconcile(cr)
	p.eventually("new pods of web", ready("web", "w2"))
	require.Equal(t, untouched, p.pods("my", "db", "MODE"))
	p.writes()
	p.reconcile(cr)
	require.Zero(t, p.writes())

	data["config.db"] = "d2"
	p.reconcile(p.cr("my", data))
	p.eventually("new pods of db", ready("db", "d2"))
}

func TestPrune(t *testing.T) {
	p := newPlace(t)
	data := twoNodes()
	p.reconcile(p.cr("my", data))
	other := p.cr("other", twoNodes())
	p.reconcile(other)
	labels := map[string]string{"app": "cluster", "custom_resource": "my"}
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "foreign", Labels: labels}}
	require.NoError(t, p.client.Create(t.Context(), foreign))
	p.awaitRollout("my") // a deletion meets no change of theirs

	data["nodes"] = "db=Statefulset"
	cr := p.cr("my", data)
	p.writes()
	p.reconcile(cr)
	require.Equal(t, 3, p.writes())
	require.False(t, p.exists(&appsv1.Deployment{}, "my-web"))
	require.False(t, p.exists(&corev1.ConfigMap{}, "my-web-config"))
	require.False(t, p.exists(&corev1.Service{}, "my-web-svc"))
	get(p, &appsv1.StatefulSet{}, "my-db")

	data["nodes"] = "" // nothing of any kind is left
	p.reconcile(p.cr("my", data))
	require.False(t, p.exists(&appsv1.StatefulSet{}, "my-db"))
	require.False(t, p.exists(&corev1.ConfigMap{}, "my-db-config"))
	get(p, &corev1.ConfigMap{}, "foreign")
	get(p, &corev1.ConfigMap{}, "my")
	get(p, &corev1.ConfigMap{}, "other-web-config")
	get(p, &appsv1.Deployment{}, "other-web")
	require.Contains(t, p.told(), "Normal ClusterOperatorDeleteObjectSuccess Deleted Deployment.apps "+p.namespace+"/my-web")
}

func TestErrorsReachTheOperator(t *testing.T) {
	p := newPlace(t)
	data := twoNodes()
	data["nodes"] = "web=Deployment,bad_name=Deployment"
	cr := p.cr("my", data)
	for range 3 {
		require.ErrorContains(t, p.operator.do(t.Context(), cr), "my-bad_name-config")
	}
	get(p, &corev1.ConfigMap{}, "my-web-config")
	require.Equal(t, 1, strings.Count(p.told(), "Warning ClusterOperatorCreateObjectFail"))

	// What is wrong doesn't cost what is there.
	data["nodes"] = "web=DaemonSet"
	require.ErrorContains(t, p.operator.do(t.Context(), p.cr("my", data)), "must be Deployment or StatefulSet")
	get(p, &corev1.ConfigMap{}, "my-web-config")
}
