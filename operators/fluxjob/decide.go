package fluxjob

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/message"
)

// action is what a job does next.
type action int

const (
	actionMove    action = iota // wait in another queue than before
	actionReject                // wait for another spec: this one is invalid, or its MiniCluster was refused
	actionSuspend               // wait for the end of the suspension
	actionWait                  // wait for admission
	actionAdmit                 // hold quota; the next pass creates the MiniCluster
	actionRun                   // let the MiniCluster run
	actionStop                  // stop the MiniCluster, and hold the quota until its pods are gone
	actionRequeue               // give the quota back, and return to the queue
	actionEnd                   // end
)

// decision is how a job continues.
type decision struct {
	action  action
	reason  string // with message, why the action is this one. actionAdmit and actionRun have none
	message string
	records bool // the next pass acts on what this one records

	admission    *v1alpha1.FluxAdmission // what the job holds from now on; nil: nothing
	takesAttempt bool                    // the next attempt's reservation is accepted or declined
	eviction     *v1alpha1.FluxEviction  // why the job holds nothing any more, or has declined a reservation
	requeueTime  *metav1.Time            // actionRequeue: the end of the backoff
	position     *int32                  // actionWait: in the queue, as far as it is known
	end          end                     // actionEnd
}

// decide returns how a job continues that hasn't ended. The first rule that applies counts.
func (p *pass) decide(o *observed) decision {
	if p.job.Status.Admission != nil {
		return p.decideAdmitted(o)
	}
	last, queue := p.job.Status.Queue, queueName(p.job)
	switch {
	case last != queue && (last != "" || p.job.Generation > 1):
		// What the former queue may have reserved is declined, observed or not. A reservation of the new one for the same attempt goes with it,
		// and the queue reserves again. A job whose spec was changed before its first pass may have been in a queue that no status records.
		return decision{action: actionMove, takesAttempt: true, records: true,
			reason: v1alpha1.ReasonQueued, message: fmt.Sprintf("it moved to queue %q", queue)}
	case len(o.problems) > 0:
		return decision{action: actionReject, takesAttempt: o.offer != nil,
			reason: v1alpha1.ReasonInvalidSpec, message: message.List(o.problems, (*field.Error).Error)}
	case p.job.Spec.Suspend:
		return decision{action: actionSuspend, takesAttempt: o.offer != nil, reason: v1alpha1.ReasonSuspended, message: "spec.suspend is true"}
	case needs.Refused(p.job):
		return decision{action: actionReject, takesAttempt: o.offer != nil,
			reason: v1alpha1.ReasonInvalidSpec, message: p.job.Status.LastEviction.Message}
	case needs.Kueue(p.job) != "":
		return p.admitWithKueue()
	case o.offer == nil:
		return p.wait(o)
	default:
		return p.acceptOrDecline(o)
	}
}

// decideAdmitted returns how a job continues that holds quota. Nothing is created of an invalid spec; a MiniCluster that runs goes on.
func (p *pass) decideAdmitted(o *observed) decision {
	held := p.job.Status.Admission.DeepCopy()
	// A MiniCluster that is gone before an eviction is recorded may have run to its end, so it isn't run again.
	wasDeleted := held.Evicted == nil && p.wasDeleted(o)
	if !wasDeleted {
		held.Evicted = p.eviction(o)
	}
	switch {
	case o.cluster != nil && needs.IsOver(o.cluster):
		return p.endOf(o, held)
	case held.Evicted != nil:
		return p.giveBack(o, held)
	case wasDeleted:
		return p.failed(o, held, v1alpha1.ReasonMiniClusterDeleted, "the MiniCluster was deleted before its end was recorded, "+
			"so the command may have run to its end or not; it isn't run again")
	default:
		return decision{action: actionRun, admission: held}
	}
}

// queueName returns the name of the queue that a job is in, or asks for: Kueue's, or a FluxSetup's.
func queueName(job *v1alpha1.FluxJob) string { return cmp.Or(needs.Kueue(job), needs.Queue(job)) }
