package operator

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/armature-dev/armature/examples/tutorial/api/v1"
)

// where scripts are mounted.
const where = "/script"

// script is the ConfigMap with the script.
func script(b *v1.Backup) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: named(b), Data: map[string]string{"run.sh": b.Spec.Script}}
}

// schedule is the CronJob that runs it.
func schedule(b *v1.Backup) *batchv1.CronJob {
	main := corev1.Container{Name: "save", Image: b.Spec.Image}
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever}
	if b.Spec.Script != "" {
		main.Command = []string{"sh", where + "/run.sh"}
		main.VolumeMounts = []corev1.VolumeMount{{Name: "script", MountPath: where}}
		pod.Volumes = []corev1.Volume{{Name: "script", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: b.Name}},
		}}}
	}
	pod.Containers = []corev1.Container{main}
	return &batchv1.CronJob{
		ObjectMeta: named(b),
		Spec: batchv1.CronJobSpec{
			Schedule:          b.Spec.Schedule,
			ConcurrencyPolicy: batchv1.ForbidConcurrent,
			JobTemplate:       batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}}},
		},
	}
}

// named is the metadata of a child: its owner reference and labels are the builder's business.
func named(b *v1.Backup) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: b.Namespace, Name: b.Name}
}
