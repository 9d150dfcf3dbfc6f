package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/confighash"
	"github.com/armature-dev/armature/internal/wellknown"
)

func podSpecs(t *testing.T) map[string]client.Object {
	d := deployment("web")
	template := d.Spec.Template
	all := map[string]client.Object{
		"Deployment":            d,
		"StatefulSet":           &appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Template: template}},
		"DaemonSet":             &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: template}},
		"ReplicaSet":            &appsv1.ReplicaSet{Spec: appsv1.ReplicaSetSpec{Template: template}},
		"Job":                   &batchv1.Job{Spec: batchv1.JobSpec{Template: template}},
		"CronJob":               &batchv1.CronJob{Spec: batchv1.CronJobSpec{JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template}}}},
		"PodTemplate":           &corev1.PodTemplate{Template: template},
		"ReplicationController": &corev1.ReplicationController{Spec: corev1.ReplicationControllerSpec{Template: &template}},
	}
	all["unstructured Deployment"] = untyped(t, d, "apps/v1", "Deployment")
	all["unstructured CronJob"] = untyped(t, all["CronJob"], "batch/v1", "CronJob")
	for _, obj := range all {
		obj.SetName("web")
	}
	return all
}

// templateIn returns the pod template somewhere in an object.
func templateIn(fields map[string]any) map[string]any {
	for name, value := range fields {
		in, _ := value.(map[string]any)
		if spec, _ := in["spec"].(map[string]any); name == "template" && spec["containers"] != nil {
			return in
		}
		if template := templateIn(in); template != nil {
			return template
		}
	}
	return nil
}

func TestHashGoesIntoPodTemplates(t *testing.T) {
	from := []any{config("c")}
	for name, obj := range podSpecs(t) {
		t.Run(name, func(t *testing.T) {
			before := obj.DeepCopyObject()
			want, err := confighash.Of(from, newCluster(t).Kinds.GVK)
			require.NoError(t, err)
			d := stamped(t, Child{Object: obj, Options: &Options{ConfigOf: from}})
			assert.Equal(t, before, obj, "the object given stays as it is")
			again := stamped(t, Child{Object: d.object, Options: &Options{ConfigOf: from}})
			assert.Equal(t, d.Digest, again.Digest, "an object read from a cluster can be desired: the variable is replaced")
			assert.NotEqual(t, stamped(t, Child{Object: obj}).Digest, d.Digest)
			u := untyped(t, d.object, "x/v1", "X")
			env := templateIn(u.Object)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["env"].([]any)
			assert.Equal(t, map[string]any{"name": wellknown.EnvConfigHash, "value": want}, env[len(env)-1])
			assert.Len(t, env, 2)
		})
	}
}

func TestHashFromSharesNothing(t *testing.T) {
	cm, secret := config("c"), &corev1.Secret{Data: map[string][]byte{"a": nil}, StringData: map[string]string{"b": "c"}}
	cmBefore, secretBefore := cm.DeepCopy(), secret.DeepCopy()
	options := &Options{ConfigOf: []any{cm, secret}}
	a, b := deployment("a"), deployment("b")
	b.Spec.Template.Spec.Containers = a.Spec.Template.Spec.Containers // shared by those who desire them
	stamped(t, Child{Object: a, Options: options})
	stamped(t, Child{Object: b, Options: options})
	assert.Equal(t, cmBefore, cm)
	assert.Equal(t, secretBefore, secret)
	assert.Len(t, a.Spec.Template.Spec.Containers[0].Env, 1)
}
