package diagnose

import (
	"regexp"
	"strings"
	"time"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

// notOwned: an object of the name that is wanted exists, and belongs to someone else.
func notOwned(s scene) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || ready.Reason != events.ReasonNotOwned {
		return nil
	}
	return blocked("NotOwned", "an object that it needs exists and belongs to another owner: %s", foreign(ready.Message)).
		do("delete that object, if no one needs it, and it is made at once; or give this one another name")
}

// foreign leaves out of a message the advice, which is given apart.
func foreign(message string) string {
	message, _, _ = strings.Cut(message, "; delete or rename that object")
	return message
}

// refused: the API server refuses what the operator wants to make.
func refused(s scene) *Finding {
	for _, kind := range []string{"Ready", "Stalled"} {
		if c := s.condition(kind); c != nil && c.Reason == events.ReasonApplyFailed {
			return s.refusal(c.Message)
		}
	}
	return nil
}

// unmade: the API server refuses the pods that a Job, ReplicaSet, StatefulSet or DaemonSet wants to make.
func unmade(s scene) *Finding {
	if c := s.isTrue("ReplicaFailure"); c != nil && s.is("ReplicaSet", "ReplicationController") {
		return s.refusal(c.Message)
	}
	if !s.is("Job", "StatefulSet", "DaemonSet", "ReplicaSet") || HasEndedBadly(s.Object) {
		return nil
	}
	e := s.warning("FailedCreate")
	if e == nil || newest(s.Owned).After(e.Last) {
		return nil
	}
	return s.refusal(e.Message)
}

// podsRefused: the owner's condition says why its Job has no pods, where the Job's events can't be read, or are gone.
func podsRefused(s scene) *Finding {
	ready := s.isFalse("Ready")
	if ready == nil || ready.Reason != v1alpha1.ReasonPodsRefused {
		return nil
	}
	return s.refusal(ready.Message)
}

// newest returns when the last of the pods was made.
func newest(owned []*Object) time.Time {
	var last time.Time
	for _, o := range owned {
		if at := o.GetCreationTimestamp().Time; o.pod != nil && at.After(last) {
			last = at
		}
	}
	return last
}

// refusals are the words of the API server for why it refuses to make something, and what to do then; @n is the flag for the
// object's namespace.
var refusals = []struct {
	words                 *regexp.Regexp
	reason, message, next string
}{
	{
		words:  regexp.MustCompile(`exceeded quota: ([^,]+), requested: (\S+), used: (\S+), limited: (\S+)`),
		reason: "QuotaExceeded", message: "ResourceQuota $1 is exceeded: requested $2, used $3, limited to $4",
		next: "wait until others have ended, ask for less, or raise the quota: kubectl describe resourcequota $1 @n",
	},
	{
		words:  regexp.MustCompile(`failed quota: ([^:]+): must specify (.*)`),
		reason: "QuotaNeedsRequests", message: "ResourceQuota $1 wants containers to specify $2",
		next: "set these requests and limits in the pod template, or a LimitRange for the namespace",
	},
	{
		words:  regexp.MustCompile(`(?s)admission webhook "([^"]+)" denied the request: (.*)`),
		reason: "Denied", message: "admission webhook $1 denies it: $2",
		next: "do what it asks for, or ask who runs the webhook",
	},
	{
		words:  regexp.MustCompile(`(?s)ValidatingAdmissionPolicy '([^']+)' with binding '[^']*' denied request: (.*)`),
		reason: "Denied", message: "ValidatingAdmissionPolicy $1 denies it: $2",
		next: "do what it asks for, or ask who set the policy: kubectl describe validatingadmissionpolicy $1",
	},
	{
		words:  regexp.MustCompile(`(?s)(violates PodSecurity .*)`),
		reason: "Denied", message: "it $1",
		next: "set the securityContext that is asked for in the pod template",
	},
	{
		words:  regexp.MustCompile(`(?s)failed calling webhook "([^"]+)": (.*)`),
		reason: "WebhookUnavailable", message: "admission webhook $1 doesn't answer: $2",
		next: "see that what the webhook's service leads to runs; its failurePolicy says what happens when it doesn't",
	},
	{
		words: regexp.MustCompile(`User "([^"]+)" cannot (\w+) resource "([^"]+)" in API group "([^"]*)" ` +
			`(?:in the namespace "([^"]+)"|at the cluster scope)`),
		reason: "Forbidden", message: "$1 may not $2 $3 here",
		next: "grant it that: kubectl auth can-i $2 $3 --as $1 @n says when it may; armature's roles are in config/rbac",
	},
	{
		words:  regexp.MustCompile(`error looking up service account \S+: serviceaccount "([^"]+)" not found`),
		reason: "ServiceAccountMissing", message: "there is no ServiceAccount $1",
		next: "create it: kubectl create serviceaccount $1 @n, or name another one in the pod template",
	},
	{
		words:  regexp.MustCompile(`no PriorityClass with name (\S+) was found`),
		reason: "PriorityClassMissing", message: "there is no PriorityClass $1",
		next: "create it, or name another one in the pod template",
	},
	{
		words:  regexp.MustCompile(`(?s)(.*is invalid: .*)`),
		reason: "Invalid", message: "the API server calls it invalid: $1",
		next: "correct the field that is named",
	},
}

// refusal says why something can't be made, in the words of the API server as far as they aren't known.
func (s scene) refusal(text string) *Finding {
	for _, r := range refusals {
		at := r.words.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		message := string(r.words.ExpandString(nil, "what it needs can't be made: "+r.message, text, at))
		next := string(r.words.ExpandString(nil, r.next, text, at))
		return blocked(r.reason, "%s", message).do("%s", strings.ReplaceAll(next, " @n", s.flagN()))
	}
	return blocked("Refused", "what it needs can't be made: %s", text).do("do what the API server asks for")
}
