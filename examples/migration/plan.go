// Package migration is the recipe of docs/recipes.md: configuration, then a migration that runs once for each version of
// the schema, then the workload.
package migration

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
)

// Operator describes the operator. A ConfigMap plays the owner: its data has the image, the version of the schema that
// the image needs, and the settings.
func Operator(mgr manager.Manager) *builder.Operator[*corev1.ConfigMap] {
	return builder.NewOperator[*corev1.ConfigMap](mgr, "migration").
		Owns(&corev1.Secret{}).
		Owns(&batchv1.Job{}).
		Owns(&appsv1.Deployment{}).
		Owns(&appsv1.ControllerRevision{}). // where phases, and what has run, are on record
		Plan(Plan)
}

// Plan orders the children: the configuration is in no phase and comes first, and the workload waits for the migration.
func Plan(owner *corev1.ConfigMap, _ builder.View) builder.Plan[*corev1.ConfigMap] {
	config := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-config"},
		StringData: map[string]string{"settings": owner.Data["settings"]},
	}
	migrate := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: owner.Name + "-migrate"},
		Spec: batchv1.JobSpec{
			BackoffLimit:            ptr.To[int32](2),
			ActiveDeadlineSeconds:   ptr.To[int64](1800), // a rollback waits for it to end
			TTLSecondsAfterFinished: ptr.To[int32](300),  // counts once the success is on record
			Template:                corev1.PodTemplateSpec{Spec: pod(owner, config.Name, "migrate", "--to", owner.Data["schema"])},
		},
	}
	migrate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	labels := map[string]string{"app": owner.Name}
	serve := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: owner.Name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: pod(owner, config.Name, "serve"),
			},
		},
	}
	return builder.Plan[*corev1.ConfigMap]{
		Rollout: rollout.Options{Phases: []string{"migrate", "serve"}, RollbackAfter: 10 * time.Minute},
		Children: []builder.Child{
			builder.Want(config),
			builder.Want(migrate, builder.RunOnce(owner.Data["schema"]), builder.InPhase("migrate")),
			builder.Want(serve, builder.HashFrom(config), builder.InPhase("serve")),
		},
	}
}

// pod is what the migration and the workload have in common.
func pod(owner *corev1.ConfigMap, config string, args ...string) corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{
		Name: "app", Image: owner.Data["image"], Args: args,
		EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: config},
		}}},
	}}}
}
