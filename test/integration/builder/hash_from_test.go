package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
)

func TestChangedConfigRollsWhatUsesIt(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{}, &appsv1.StatefulSet{}, &appsv1.DaemonSet{}, &batchv1.CronJob{}, &corev1.ConfigMap{})
	cm := configMap("config", "a", "1")
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, StringData: map[string]string{"p": "1"}}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	both := &appsv1.Deployment{ObjectMeta: named("both"), Spec: appsv1.DeploymentSpec{Selector: webLabels(), Template: webPod()}}
	ofSecret := &appsv1.StatefulSet{ObjectMeta: named("of-secret"), Spec: appsv1.StatefulSetSpec{Selector: webLabels(), Template: webPod(), ServiceName: "web"}}
	daemons := &appsv1.DaemonSet{ObjectMeta: named("daemons"), Spec: appsv1.DaemonSetSpec{Selector: webLabels(), Template: webPod()}}
	cron := &batchv1.CronJob{ObjectMeta: named("cron"), Spec: batchv1.CronJobSpec{
		Schedule: "0 0 1 1 *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: onceOnly(webPod())}},
	}}
	neither := &appsv1.Deployment{ObjectMeta: named("neither"), Spec: appsv1.DeploymentSpec{Selector: webLabels(), Template: webPod()}}
	loose := asUntyped(t, &appsv1.ReplicaSet{ObjectMeta: named("loose"), Spec: appsv1.ReplicaSetSpec{Selector: webLabels(), Template: webPod()}}, "apps/v1", "ReplicaSet")
	reconcile := func() (builder.Result, error) {
		for _, o := range []client.Object{both, ofSecret, daemons, cron, neither, loose, cm, secret} {
			w.settleIfThere(o)
		}
		return w.engine.For(w.owner).
			ConfigMap(cm).
			Object(secret).
			Deployment(both, builder.HashFrom(secret, cm)).
			StatefulSet(ofSecret, builder.HashFrom(secret)).
			Object(daemons, builder.HashFrom(cm)).
			Object(cron, builder.HashFrom(cm)).
			Object(loose, builder.HashFrom(cm)).
			Deployment(neither).
			Reconcile(w.ctx)
	}
	// changed returns the children that were written. A controller may write one between the look at it and its write: that one is
	// written by the next pass, and the others aren't written again.
	changed := func() (names []string) {
		w.eventually(func() bool {
			res, err := reconcile()
			for _, c := range res.Changes {
				names = append(names, c.Key.Name)
			}
			if !apierrors.IsConflict(err) {
				require.NoError(t, err)
			}
			return err == nil
		}, "a pass without a conflict")
		return names
	}
	assert.Len(t, changed(), 8)
	assert.Empty(t, changed())
	generation := func(o client.Object) int64 { return w.get(o).GetGeneration() }
	before := generation(neither)

	cm.Data["a"] = "2"
	assert.ElementsMatch(t, []string{"config", "both", "daemons", "cron", "loose"}, changed())
	assert.Empty(t, changed())
	assert.EqualValues(t, 2, generation(both))
	assert.EqualValues(t, 1, generation(ofSecret))

	secret.StringData["p"] = "2"
	assert.ElementsMatch(t, []string{"secret", "both", "of-secret"}, changed())

	cm.Labels = map[string]string{"only": "metadata"}
	assert.ElementsMatch(t, []string{"config"}, changed())
	assert.Equal(t, before, generation(neither))

	env := w.get(both).(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Env
	assert.Equal(t, wellknown.EnvConfigHash, env[len(env)-1].Name)
}
