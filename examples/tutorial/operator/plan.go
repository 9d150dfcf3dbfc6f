// Package operator sets up what saves: a CronJob, and the script that it runs.
package operator

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/tutorial/api/v1"
)

// Plan returns the desired children of a Backup, and its status.
func Plan(backup *v1.Backup, view builder.View) builder.Plan[*v1.Backup] {
	children := []builder.Child{builder.Want(schedule(backup))}
	if backup.Spec.Script != "" {
		children = append(children, builder.Want(script(backup)))
	}
	after := backup.DeepCopy()
	if job, ok := builder.Lookup[*batchv1.CronJob](view, backup.Name); ok {
		after.Status.LastSuccess = job.Status.LastSuccessfulTime
	}
	return builder.Plan[*v1.Backup]{
		Children: children,
		Prune:    []client.Object{&corev1.ConfigMap{}}, // the script, once there is none
		Status:   after,
		Report:   true, // the conditions Ready, Progressing and Stalled
	}
}

// Setup lets a manager run Backups.
func Setup(mgr manager.Manager) error {
	return builder.NewOperator[*v1.Backup](mgr, "backup").
		Owns(&batchv1.CronJob{}).
		Owns(&corev1.ConfigMap{}).
		Plan(Plan).
		Complete()
}
