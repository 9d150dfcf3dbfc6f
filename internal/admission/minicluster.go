package admission

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// asStarted returns the object as if it had just started, and whether its validity depends on how it started: the tasks of a MiniCluster
// that runs must fit the size for which its brokers are configured, and not the size to which it is scaled.
func asStarted(obj any, now time.Time) (any, bool) {
	c, ok := obj.(*v1alpha1.MiniCluster)
	if !ok || c.Spec.Suspend || c.Status.StartTime == nil || c.Status.CompletionTime != nil {
		return nil, false
	}
	started := asNew(c)
	started.Status.StartTime = new(metav1.NewTime(now))
	started.Status.StartSize, started.Status.MaximumSize = c.Status.StartSize, c.Status.MaximumSize
	return started, true
}
