package fluxjob

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// Bounds of the backoff if the FluxSetup is gone or has no readiness; they are the defaults of its fields.
const (
	defaultBackoff    = 60
	defaultBackoffMax = 3600
)

// readiness returns the rule of the queue whose quota the job holds, nil if it has none.
func (o *observed) readiness() *v1alpha1.FluxReadiness {
	if o.admittedBy == nil {
		return nil
	}
	return o.admittedBy.Spec.Readiness
}

// hasRequeuedTooOften reports whether a job whose pods weren't ready in time has used up requeueLimit.
func (p *pass) hasRequeuedTooOften(o *observed) bool {
	r := o.readiness()
	return r != nil && r.RequeueLimit != nil && p.job.Status.Requeues >= *r.RequeueLimit
}

// requeueTime returns when a job whose pods weren't ready in time returns to the queue. The backoff doubles with each requeue.
func (p *pass) requeueTime(o *observed) *metav1.Time {
	seconds, longest := int64(defaultBackoff), int64(defaultBackoffMax)
	if r := o.readiness(); r != nil {
		seconds, longest = int64(r.BackoffSeconds), int64(r.BackoffMaxSeconds)
	}
	for range p.job.Status.Requeues {
		if seconds >= longest {
			break
		}
		seconds *= 2
	}
	end := metav1.NewTime(p.now.Add(time.Duration(min(seconds, longest)) * time.Second))
	return &end
}
