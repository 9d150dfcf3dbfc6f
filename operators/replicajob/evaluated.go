package replicajob

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

// AnnotationFailureRule is the annotation of a failed pod for the failure rule that matches it. A pass that can't evaluate all failures
// records there those that it has evaluated, and the job continues once all are. It ends with a digest of all that the rule follows from.
const AnnotationFailureRule = "api.practice.com/failure-rule"

// maxSteps bounds what one pass matches of the messages of failed pods, in bytes times instructions: one to three seconds of a CPU,
// which nothing interrupts. The last pod may exceed it.
const maxSteps = 32 << 20

// ruleSet is the failure rules of a valid policy, for one pass.
type ruleSet struct {
	rules  []compiledRule
	digest string // of the rules
	steps  int    // matched so far
}

func newRuleSet(policy *v1alpha1.ReplicaFailurePolicy) *ruleSet {
	if policy == nil {
		return &ruleSet{}
	}
	return &ruleSet{rules: compile(policy), digest: digest(policy.Rules)}
}

// evaluate decides what a failure means, unless the pass has matched enough.
func (s *ruleSet) evaluate(f *failure) {
	index, known := s.recorded(f)
	if !known {
		if s.steps >= maxSteps {
			return
		}
		index = s.first(f)
		f.record = func() string { return fmt.Sprintf("%d.%s", index, s.digestOf(f)) }
	}
	if index < 0 {
		f.action = f.actionOfPolicy()
	} else {
		f.action, f.rule = s.rules[index].Action, s.rules[index].name
	}
}

// first returns the index of the first rule that matches; -1 if none does.
func (s *ruleSet) first(f *failure) int {
	for i := range s.rules {
		if s.rules[i].matches(f, &s.steps) {
			return i
		}
	}
	return -1
}

// recorded returns what an earlier pass has recorded on the pod of a failure, if it still holds.
func (s *ruleSet) recorded(f *failure) (index int, ok bool) {
	number, of, _ := strings.Cut(f.pod.Annotations[AnnotationFailureRule], ".")
	index, err := strconv.Atoi(number)
	return index, err == nil && index >= -1 && index < len(s.rules) && of == s.digestOf(f)
}

// digestOf returns the digest of all from which it follows which rule matches a failure.
func (s *ruleSet) digestOf(f *failure) string {
	return digest([]any{s.digest, f.group.name, f.how})
}

func digest(of any) string {
	text, err := json.Marshal(of)
	if err != nil {
		panic(err) // strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// unevaluated returns the number of failures of which it isn't known yet what they mean.
func unevaluated(failures []*failure) (n int) {
	for _, f := range failures {
		if f.action == "" {
			n++
		}
	}
	return n
}

// recordRules records on pods the rules of failures that this pass has evaluated.
func recordRules(failures []*failure) (edits []builder.Edit) {
	for _, f := range failures {
		if f.record == nil || len(edits) == batch {
			continue
		}
		after := f.pod.DeepCopy()
		if after.Annotations == nil {
			after.Annotations = map[string]string{}
		}
		after.Annotations[AnnotationFailureRule] = f.record()
		edits = append(edits, builder.Edit{Before: f.pod, After: after})
	}
	return edits
}
