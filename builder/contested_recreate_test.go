package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// selecting is the Deployment with another selector, which can't be changed.
func selecting(value string) *appsv1.Deployment {
	d := newWorkload("web")
	d.Spec.Selector.MatchLabels = map[string]string{"version": value}
	d.Spec.Template.Labels = d.Spec.Selector.MatchLabels
	return d
}

// recreates runs a pass that recreates the Deployment if need be.
func (r *rivalry) recreates(engine *builder.Engine, selector string) builder.Result {
	r.t.Helper()
	b := engine.For(r.owner).Deployment(selecting(selector), builder.RecreateImmutable(""))
	return r.reconciles(b)
}

// Two versions of one program that want another value of an immutable field don't delete each other's object for ever.
func TestTwoVersionsThatRecreateAChildAreCalmWithinAMinute(t *testing.T) {
	for name, passes := range map[string]int{"in turns": 1, "each until it has what it wants": 2} {
		t.Run(name, func(t *testing.T) {
			r := newRivalry(t)
			other := buildertest.NewEngine(r.server.Client("the other version"), builder.Options{Name: "test"}, buildertest.EngineOptions{Clock: r.ours.Now})
			begun, writes := r.ours.Now(), 0
			var one, two builder.Result
			for r.ours.Now().Sub(begun) < time.Minute && writes < 100 {
				changes := 0
				for range passes {
					two = r.recreates(other, "new")
					changes += len(two.Changes)
				}
				for range passes {
					one = r.recreates(r.engine, "old")
					changes += len(one.Changes)
				}
				if writes += changes; changes == 0 {
					r.server.Clock().Step(min(one.RequeueAfter, two.RequeueAfter))
				}
			}
			assert.LessOrEqual(t, writes, 45)
			var told []string
			for _, c := range append(builder.Contested(one), builder.Contested(two)...) {
				if fields, by, ok := strings.Cut(c.Message, " keeps being changed by "); ok { // else: over its existence
					told = append(told, strings.Split(fields, ", ")...)
					assert.Regexp(t, `^test \(Update\); `, by)
					assert.Contains(t, c.String(), "this controller's own name: stop the other instance or version of this program")
				}
			}
			assert.Contains(t, told, "spec.selector")
			assert.Subset(t, []string{"spec.selector", "spec.template.metadata.labels.version"}, told)
		})
	}
}

// Who changes a spec again and again has it each time at once: that is no contest.
func TestDesiredStatesThatRecreateAChildAreNoContest(t *testing.T) {
	r := newRivalry(t)
	for i := range 8 {
		selector := []string{"a", "b"}[i%2]
		for len(r.recreates(r.engine, selector).Changes) > 0 { // deleted, then created
		}
		assert.Equal(t, selector, r.child().Spec.Selector.MatchLabels["version"])
		assert.Empty(t, builder.Contested(r.recreates(r.engine, selector)))
	}
	assert.Empty(t, r.heard)
}
