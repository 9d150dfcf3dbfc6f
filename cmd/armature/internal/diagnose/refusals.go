package diagnose

import (
	"regexp"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// notOwned: an object with the desired name exists, and belongs to another owner.
func notOwned(s subject) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || ready.Reason != events.ReasonNotOwned {
		return nil
	}
	what, _, _ := strings.Cut(ready.Message, wellknown.AdviceNotOwned) // the finding has its own advice
	return blocked("NotOwned", "an object that it needs exists and belongs to another owner: %s", what).
		do("delete that object if nothing needs it, and the operator creates its own at once; or give this one another name")
}

// refused: the API server refuses a child of the operator.
func refused(s subject) *Finding {
	for _, kind := range []string{"Ready", "Stalled"} {
		if c := s.condition(kind); c != nil && c.Reason == events.ReasonApplyFailed {
			return s.refusal(c.Message)
		}
	}
	return nil
}

// unmade: the API server refuses the pods that a Job, ReplicaSet, StatefulSet or DaemonSet creates.
func unmade(s subject) *Finding {
	if c := s.isTrue("ReplicaFailure"); c != nil && s.is("ReplicaSet", "ReplicationController") {
		return s.refusal(c.Message)
	}
	if !s.is("Job", "StatefulSet", "DaemonSet", "ReplicaSet") || HasFailed(s.Object) {
		return nil
	}
	e := s.warning("FailedCreate")
	if e == nil || newest(s.Owned).After(e.Last) || s.hasItsPods() {
		return nil
	}
	return s.refusal(e.Message)
}

// hasItsPods reports whether a Job, ReplicaSet, StatefulSet or DaemonSet lacks no pod: an event about one that it lacked can be left
// from before it was scaled down.
func (o *Object) hasItsPods() bool {
	if o.job != nil {
		return o.job.Status.Active >= activeOf(o.job)
	}
	if isBehind(o) {
		return false
	}
	if o.is("DaemonSet") {
		return o.number("status", "currentNumberScheduled") >= o.number("status", "desiredNumberScheduled")
	}
	return o.number("status", "replicas") >= replicasOf(o)
}

// activeOf returns how many pods of a Job run at a time, as its controller counts them.
func activeOf(job *batchv1.Job) int32 {
	parallelism := ptr.Deref(job.Spec.Parallelism, 1)
	switch {
	case job.Spec.Completions != nil:
		return min(parallelism, *job.Spec.Completions-job.Status.Succeeded)
	case job.Status.Succeeded > 0:
		return 0 // the others end by themselves
	default:
		return parallelism
	}
}

// podsRefused: the owner's condition has the reason why its Job has no pods, for when the Job's events expired or can't be read.
func podsRefused(s subject) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || ready.Reason != v1alpha1.ReasonPodsRefused {
		return nil
	}
	return s.refusal(ready.Message)
}

// newest returns the creation time of the newest pod.
func newest(owned []*Object) time.Time {
	var last time.Time
	for _, o := range owned {
		if at := o.GetCreationTimestamp().Time; o.pod != nil && at.After(last) {
			last = at
		}
	}
	return last
}

// refusals are the API server's messages about a refused object, with the finding for each; @n is the flag for the object's namespace.
var refusals = []struct {
	words                 *regexp.Regexp
	reason, message, next string
}{
	{
		words:  regexp.MustCompile(`exceeded quota: ([^,]+), requested: (\S+), used: (\S+), limited: (\S+)`),
		reason: "QuotaExceeded", message: "ResourceQuota $1 is exceeded: requested $2, used $3, limited to $4",
		next: "wait until other pods have ended, request less, or raise the quota: kubectl describe resourcequota $1 @n",
	},
	{
		words:  regexp.MustCompile(`failed quota: ([^:]+): must specify (.*)`),
		reason: "QuotaNeedsRequests", message: "ResourceQuota $1 requires containers to specify $2",
		next: "set these requests and limits in the pod template, or a LimitRange for the namespace",
	},
	{
		words:  regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request: (.*)`),
		reason: "Denied", message: "admission webhook $1 denied it: $2",
		next: "change what the message names, or ask the webhook's administrator",
	},
	{
		words:  regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied request: (.*)`),
		reason: "Denied", message: "ValidatingAdmissionPolicy $1 denied it: $2",
		next: "change what the message names, or ask the policy's administrator: kubectl describe validatingadmissionpolicy $1",
	},
	{
		words:  regexp.MustCompile(`(?s)(violates PodSecurity .*)`),
		reason: "Denied", message: "it $1",
		next: "set the required securityContext in the pod template",
	},
	{
		words:  regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)`),
		reason: "WebhookUnavailable", message: "admission webhook $1 doesn't answer: $2",
		next: "check that the pods of the webhook's Service run; the webhook's failurePolicy decides what happens without them",
	},
	{
		words: regexp.MustCompile(`User "([^"]+)" cannot (\w+) resource "([^"]+)" in API group "([^"]*)" ` +
			`(?:in the namespace "([^"]+)"|at the cluster scope)`),
		reason: "Forbidden", message: "$1 has no permission to $2 $3",
		next: "grant the permission, and check it: kubectl auth can-i $2 $3 --as $1 @n; Armature's roles are in config/rbac",
	},
	{
		words:  regexp.MustCompile(`error looking up service account \S+: serviceaccount "([^"]+)" not found`),
		reason: "ServiceAccountMissing", message: "there is no ServiceAccount $1",
		next: "create it: kubectl create serviceaccount $1 @n, or set another one in the pod template",
	},
	{
		words:  regexp.MustCompile(`no PriorityClass with name (\S+) was found`),
		reason: "PriorityClassMissing", message: "there is no PriorityClass $1",
		next: "create it, or set another one in the pod template",
	},
	{
		words:  regexp.MustCompile(`(?s)(.*is invalid: .*)`),
		reason: "Invalid", message: "the API server rejects it: $1",
		next: "correct the field that the message names",
	},
}

// refusal returns the finding about a refused object. It quotes an unknown message of the API server.
func (s subject) refusal(text string) *Finding {
	for _, r := range refusals {
		at := r.words.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		message := string(r.words.ExpandString(nil, "a child can't be created: "+r.message, text, at))
		next := string(r.words.ExpandString(nil, r.next, text, at))
		return blocked(r.reason, "%s", message).do("%s", strings.ReplaceAll(next, " @n", s.flagN()))
	}
	return blocked("Refused", "a child can't be created: %s", text).do("correct what the message names")
}
