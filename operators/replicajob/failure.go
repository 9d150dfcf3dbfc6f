package replicajob

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/message"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// failure is a replica that failed, and what that means.
type failure struct {
	team   *team
	index  int
	slot   *slot
	how    outcome.PodFailure
	action v1alpha1.FailureAction
	rule   string // the rule that decided; empty: the restart policy did
}

// firstPermanent is the first exit code that another try may mend: 128 and more say that a signal ended the process.
const firstRetryable = 128

// failures returns all replicas that failed, in the order of ranks, each with what its failure means.
func (j *job) failures(r *roster) []failure {
	var all []failure
	var rules []compiledRule
	r.each(func(t *team, index int, s *slot) {
		if s.state != failed {
			return
		}
		if all == nil {
			rules = compile(j.spec.FailurePolicy)
		}
		f := failure{team: t, index: index, slot: s, how: outcome.OfPodFailure(s.pod, j.container)}
		f.judge(rules)
		all = append(all, f)
	})
	return all
}

// judge decides what the failure means: by the first rule that matches, else by the type's restart policy.
func (f *failure) judge(rules []compiledRule) {
	for i := range rules {
		if rules[i].matches(f) {
			f.action, f.rule = rules[i].Action, rules[i].name
			return
		}
	}
	f.action = v1alpha1.FailureRestartReplica
	switch f.team.restartPolicy() {
	case v1alpha1.RestartNever:
		f.action = v1alpha1.FailureFail
	case v1alpha1.RestartExitCode:
		if code := f.how.ExitCode; code != nil && *code < firstRetryable {
			f.action = v1alpha1.FailureFail
		}
	}
}

// compiledRule is a failure rule with its pattern compiled.
type compiledRule struct {
	*v1alpha1.FailureRule
	name    string
	message *regexp.Regexp // nil: any
}

// compile compiles the rules of a valid policy.
func compile(policy *v1alpha1.ReplicaFailurePolicy) []compiledRule {
	if policy == nil {
		return nil
	}
	rules := make([]compiledRule, len(policy.Rules))
	for i := range policy.Rules {
		rules[i] = compiledRule{FailureRule: &policy.Rules[i], name: policy.Rules[i].Name}
		if rules[i].name == "" {
			rules[i].name = fmt.Sprintf("rules[%d]", i)
		}
		if pattern := policy.Rules[i].OnMessage; pattern != "" {
			rules[i].message, _ = regexp.Compile(pattern) // it compiles: see validate
		}
	}
	return rules
}

// matches reports whether all that the rule asks for is so.
func (r *compiledRule) matches(f *failure) bool {
	return (len(r.ReplicaTypes) == 0 || slices.Contains(r.ReplicaTypes, f.team.name)) &&
		(r.OnExitCodes == nil || matchesCode(r.OnExitCodes, f.how.ExitCode)) &&
		(len(r.OnReasons) == 0 || slices.ContainsFunc(f.how.Reasons, func(s string) bool { return slices.Contains(r.OnReasons, s) })) &&
		(r.message == nil || slices.ContainsFunc(f.how.Messages, r.message.MatchString))
}

func matchesCode(codes *v1alpha1.ExitCodes, code *int32) bool {
	if code == nil {
		return false
	}
	return slices.Contains(codes.Values, *code) == (codes.Operator != v1alpha1.ExitCodeNotIn)
}

// restartsReplica reports whether the pod is to be made again.
func (f *failure) restartsReplica() bool {
	return f.action == v1alpha1.FailureRestartReplica || f.action == v1alpha1.FailureIgnore
}

// restartsJob reports whether all pods are to be made again.
func (f *failure) restartsJob() bool {
	return f.action == v1alpha1.FailureRestartJob || f.action == v1alpha1.FailureRestartJobIgnoringMax
}

// isRecorded reports whether the status has the restart that this failure causes. Only then the pod may be deleted: a
// count can't be lost that way, nor can one be made twice, since it is worked out from what the pod itself says.
func (f *failure) isRecorded() bool { return f.slot.recorded > f.slot.before() }

// left is how long it takes until the pod may be made again. One whose end isn't known has never run, or long enough: the
// delay counts from when it was made, so that pods that fail at once don't follow one another without a pause.
func (f *failure) left(restarts int32, now time.Time) time.Duration {
	since := f.slot.pod.CreationTimestamp
	if f.how.Ended != nil {
		since = *f.how.Ended
	}
	return max(0, since.Add(restartDelay(restarts)).Sub(now))
}

const maxRestartDelay = 60 * time.Second

// restartDelay is how long after its end something is restarted that was restarted so often before: 0, 1, 2, 4 ... 60 s.
func restartDelay(restarts int32) time.Duration {
	if restarts <= 0 {
		return 0
	}
	if restarts > 6 { // 2^6 s is past the maximum
		return maxRestartDelay
	}
	return min(time.Second<<(restarts-1), maxRestartDelay)
}

// String says which replica failed and how, in one line.
func (f *failure) String() string {
	var b strings.Builder
	b.WriteString(f.team.replica(f.index) + " failed")
	if f.how.ExitCode != nil {
		fmt.Fprintf(&b, " with exit code %d", *f.how.ExitCode)
	}
	if len(f.how.Reasons) > 0 {
		fmt.Fprintf(&b, " (%s)", strings.Join(f.how.Reasons, ", "))
	}
	if len(f.how.Messages) > 0 {
		b.WriteString(": " + message.Cut(strings.TrimSpace(f.how.Messages[0]), maxDetail))
	}
	return b.String()
}
