package operator

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/buildertest"
	v1 "github.com/armature-dev/armature/examples/tutorial/api/v1"
)

func TestPlan(t *testing.T) {
	saved := metav1.NewTime(time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC))
	view := buildertest.NewView(saved.Time, &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "nightly"}, Status: batchv1.CronJobStatus{LastSuccessfulTime: &saved},
	})
	for script, want := range map[string]string{
		"":            "*v1.CronJob",
		"tar c /data": "*v1.CronJob *v1.ConfigMap",
	} {
		backup := &v1.Backup{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "nightly"}, Spec: v1.BackupSpec{Image: "tools:1", Script: script}}
		plan := Plan(backup, view)
		var kinds []string
		for _, child := range plan.Children {
			kinds = append(kinds, fmt.Sprintf("%T", child.Object()))
		}
		assert.Equal(t, want, strings.Join(kinds, " "))
		assert.Equal(t, &saved, plan.Status.Status.LastSuccess)
	}
}
