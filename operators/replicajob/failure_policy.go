package replicajob

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/operators/internal/origin"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/internal/pattern"
)

// failure is a replica that failed, and what the failure means.
type failure struct {
	*replica
	how    outcome.PodFailure
	action v1alpha1.FailureAction // empty: it isn't evaluated yet
	rule   string                 // the rule that decided; empty: the restart policy did
	// record returns the value of AnnotationFailureRule. Nil: the pod has it, or the failure isn't evaluated.
	record func() string
}

// firstRetryable is the first exit code after which another try may succeed: 128 and more say that a signal ended the process.
const firstRetryable = 128

// failures returns all replicas that failed, in the order of ranks, each with what its failure means, as far as one pass can evaluate it.
func (p *pass) failures(o *observed) []*failure {
	var all []*failure
	var rules *ruleSet
	for r := range o.replicas() {
		if r.state != failed {
			continue
		}
		if all == nil {
			rules = newRuleSet(p.spec.FailurePolicy)
		}
		f := &failure{replica: r, how: outcome.OfPodFailure(r.pod, p.container)}
		rules.evaluate(f)
		all = append(all, f)
	}
	return all
}

// restartPolicy returns what happens when a pod of the type fails.
func (g *group) restartPolicy() v1alpha1.ReplicaRestartPolicy {
	switch {
	case g.spec.RestartPolicy != "":
		return g.spec.RestartPolicy
	case g.spec.Template.Spec.RestartPolicy != "":
		return v1alpha1.ReplicaRestartPolicy(g.spec.Template.Spec.RestartPolicy)
	default:
		return v1alpha1.RestartNever
	}
}

// actionOfPolicy returns what the failure means by the type's restart policy: no rule matches it.
func (f *failure) actionOfPolicy() v1alpha1.FailureAction {
	code := f.how.ExitCode
	switch policy := f.group.restartPolicy(); {
	case policy == v1alpha1.RestartNever, policy == v1alpha1.RestartExitCode && code != nil && *code < firstRetryable:
		return v1alpha1.FailureFail
	default:
		return v1alpha1.FailureRestartReplica
	}
}

// compiledRule is a failure rule with its pattern, which is compiled when a failure needs it.
type compiledRule struct {
	*v1alpha1.FailureRule
	name    string
	message *pattern.Expression // nil: any
	size    int                 // of message
	matched map[string]bool     // in this pass, by text
}

// compile compiles the rules of a valid policy.
func compile(policy *v1alpha1.ReplicaFailurePolicy) []compiledRule {
	rules := make([]compiledRule, len(policy.Rules))
	for i := range policy.Rules {
		rules[i] = compiledRule{FailureRule: &policy.Rules[i], name: policy.Rules[i].Name}
		if rules[i].name == "" {
			rules[i].name = fmt.Sprintf("rules[%d]", i)
		}
		if text := policy.Rules[i].OnMessage; text != "" {
			rules[i].message, rules[i].matched = pattern.New(text), map[string]bool{} // it compiles: see validateFailure
			rules[i].size, _ = pattern.Size(text)
		}
	}
	return rules
}

// matches reports whether a failure meets all conditions of the rule, and adds what that takes to steps.
func (r *compiledRule) matches(f *failure, steps *int) bool {
	return (len(r.ReplicaTypes) == 0 || slices.Contains(r.ReplicaTypes, f.group.name)) &&
		(r.OnExitCodes == nil || matchesCode(r.OnExitCodes, f.how.ExitCode)) &&
		(len(r.OnReasons) == 0 || slices.ContainsFunc(f.how.Reasons, func(s string) bool { return slices.Contains(r.OnReasons, s) })) &&
		(r.message == nil || slices.ContainsFunc(matched(f.how.Messages), func(s string) bool { return r.matchesMessage(s, steps) }))
}

// matchesMessage matches a text once in a pass: many pods may say the same.
func (r *compiledRule) matchesMessage(text string, steps *int) bool {
	matches, known := r.matched[text]
	if !known {
		*steps += r.size * len(text)
		matches = r.message.Match(text)
		r.matched[text] = matches
	}
	return matches
}

// maxMatched bounds the bytes of a pod's messages that rules match: the kubelet keeps 12 KiB of all its containers, and says less itself.
const maxMatched = 16 << 10

// matched returns the part of some messages that rules match.
func matched(messages []string) []string {
	left := maxMatched
	for i, m := range messages {
		if len(m) > left {
			return append(slices.Clone(messages[:i]), m[:left])
		}
		left -= len(m)
	}
	return messages
}

func matchesCode(codes *v1alpha1.ExitCodes, code *int32) bool {
	if code == nil {
		return false
	}
	return slices.Contains(codes.Values, *code) == (codes.Operator != v1alpha1.ExitCodeNotIn)
}

// restartsJob reports whether the failure restarts the whole job.
func (f *failure) restartsJob() bool {
	return f.action == v1alpha1.FailureRestartJob || f.action == v1alpha1.FailureRestartJobIgnoringMax
}

// left returns the time until the pod may be recreated. A pod whose end isn't known has never run, or for long enough: the delay
// counts from its creation, so that pods that fail at once don't follow one another without a pause. So it does if the clock of the pod's
// node is ahead.
func (f *failure) left(restarts int32, now time.Time) time.Duration {
	since := f.pod.CreationTimestamp
	if f.how.Ended != nil && !f.how.Ended.After(now) {
		since = *f.how.Ended
	}
	return max(0, since.Add(restartDelay(restarts)).Sub(now))
}

// String says which replica failed and how, in one line.
func (f *failure) String() string {
	var b strings.Builder
	b.WriteString(f.replica.String() + " failed")
	if f.how.ExitCode != nil {
		fmt.Fprintf(&b, " with exit code %d", *f.how.ExitCode)
	}
	if len(f.how.Reasons) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(f.how.Reasons, ", "))
	}
	if len(f.how.Messages) > 0 {
		b.WriteString(": " + text.Shorten(strings.TrimSpace(f.how.Messages[0]), maxDetail))
	}
	return b.String()
}

// maxDetail bounds what a message contains of a failed container's own message, in bytes.
const maxDetail = 256

// failJob returns the decision of a failure that fails the job.
func failJob(f *failure) decision {
	d := decision{action: actionFail, records: true, reason: v1alpha1.ReasonReplicaFailed, at: f.how.Ended, cause: f,
		message: fmt.Sprintf("%s; its restartPolicy is %s", f, f.group.restartPolicy())}
	if f.rule != "" {
		d.reason = v1alpha1.ReasonFailureRule
		d.message = fmt.Sprintf("%s; failurePolicy rule %q says Fail", f, f.rule)
	}
	return d
}

// restartJob returns the decision of a failure that restarts the job: its end if it was restarted too often.
func (p *pass) restartJob(o *observed, f *failure) decision {
	limit := p.spec.FailurePolicy.MaxRestarts // there is a policy: one of its rules decided
	if f.action == v1alpha1.FailureRestartJob && limit != nil && p.last.RestartsTowardsMax >= *limit {
		return decision{action: actionFail, records: true, reason: v1alpha1.ReasonMaxRestartsExceeded, at: f.how.Ended, cause: f,
			message: fmt.Sprintf("%s; failurePolicy rule %q says %s, and failurePolicy.maxRestarts is %d", f, f.rule, f.action, *limit)}
	}
	restarts := p.jobRestarts(o)
	if wait := f.left(restarts, p.now.Time); wait > 0 {
		return decision{action: actionAwaitRestart, wait: wait}
	}
	return decision{action: actionRestart, records: true, reason: v1alpha1.ReasonJobRestarting, cause: f,
		message: fmt.Sprintf("%s; failurePolicy rule %q says %s: restart %d of the whole job", f, f.rule, f.action, restarts+1)}
}

// jobRestarts returns how often the whole job was restarted: the recorded number, or the highest label of a replica's pod. An adopted pod
// counts the restarts of an earlier job, and must be of a former attempt once the job restarts.
func (p *pass) jobRestarts(o *observed) int32 {
	n := p.last.Restarts
	for r := range o.replicas() {
		if r.pod != nil {
			n = max(n, p.attemptOf(r.pod))
		}
	}
	return n
}

// maxAttempt bounds the attempts that a label can claim, so that counts never overflow: a second apart they would take 12 days.
const maxAttempt = 1 << 20

// attemptOf returns the attempt of the whole job that a pod belongs to, by its label. One that no job can have come to counts as the first,
// unless this job has.
func (p *pass) attemptOf(pod *corev1.Pod) int32 {
	if n := origin.Number(pod.Labels, LabelRestartAttempt); n <= max(maxAttempt, p.last.Restarts) {
		return n
	}
	return 0
}

// setJobRestarting records a restart of the whole job. The next passes delete the pods that are labelled with an earlier attempt.
func (p *pass) setJobRestarting(s *v1alpha1.ReplicaJobStatus, o *observed, d decision) {
	s.Restarts = p.jobRestarts(o) + 1
	s.TotalRestarts += s.Restarts - p.last.Restarts
	if d.cause.action == v1alpha1.FailureRestartJob {
		s.RestartsTowardsMax++
	}
	for name, rs := range s.ReplicaStatuses {
		rs.Pending += rs.Active + rs.Succeeded + rs.Failed
		rs.Active, rs.Succeeded, rs.Failed = 0, 0, 0
		rs.SucceededIndexes, rs.ReplicaRestarts = "", nil
		s.ReplicaStatuses[name] = rs
	}
	p.setRestarting(s, d.reason, d.message)
}

// isBlocked reports whether no pod may be created until those of the former attempt are gone.
func (p *pass) isBlocked(o *observed) bool {
	policy := p.spec.FailurePolicy
	return len(o.old) > 0 && policy != nil && policy.RestartStrategy == v1alpha1.RestartBlockingRecreate
}
