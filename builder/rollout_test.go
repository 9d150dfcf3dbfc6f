package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

func TestFirstInstallIsAllAtOnce(t *testing.T) {
	w := newPhasedWorld(t)
	res := w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	assert.Equal(t, rollout.Installing, res.Rollout.State)
	assert.Empty(t, res.Rollout.From)
	assert.Len(t, builder.NotReady(res), 3)
	assert.Empty(t, w.revisions(), "it isn't complete")
	w.rollOut("broker", "server")
	w.desire("v2")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.deployed(), "also if it changes before it is complete")
	w.rollOut("controller", "server")
	w.fail("broker")
	res = w.pass()
	assert.Nil(t, builder.RolloutFailure(res))
	assert.Equal(t, events.ReasonChildFailed, builder.NotReady(res)[0].Reason)

	w.heal("broker")
	res = w.pass()
	assert.Equal(t, []string{"1Completed"}, w.revisions())
	assert.Equal(t, rollout.Completed, res.Rollout.State)
	assert.Equal(t, res.Rollout.To, res.Rollout.From)
	assert.Equal(t, []string{"RolloutCompleted"}, w.events)
	w.pass()
	assert.Empty(t, w.writes)
	w.restart()
	w.pass()
	assert.Empty(t, w.writes, "a new process knows it, too")
}

func TestUpgradeInOrder(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	w.desire("v2")
	res := w.pass()
	assert.Equal(t, "v2 v1 v1", w.deployed())
	assert.Equal(t, []string{
		"create ControllerRevision.apps default/" + res.Rollout.To,
		"patch Deployment.apps default/controller", "apply Deployment.apps default/controller",
	}, w.writes, "the patch records the fields")
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	assert.Equal(t, "controller", res.Rollout.Phase)
	assert.Equal(t, []string{"broker", "server"}, paused(res))
	assert.True(t, w.Now().Equal(res.Rollout.StartedAt))
	w.pass()
	assert.Empty(t, w.writes)

	w.rollOut("controller")
	assert.Equal(t, "broker", w.pass().Rollout.Phase)
	assert.Equal(t, "v2 v2 v1", w.deployed())
	w.rollOut("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.deployed())
	assert.Equal(t, []string{"1Completed", "2Progressing"}, w.revisions())
	w.step(time.Minute)
	w.rollOut("server")
	res = w.pass()
	assert.Equal(t, []string{"1Completed", "2Completed"}, w.revisions())
	assert.Equal(t, time.Minute, res.Rollout.FinishedAt.Sub(res.Rollout.StartedAt))
	w.pass()
	assert.Empty(t, w.writes)
	assert.Equal(t, []string{"RolloutCompleted", "RolloutStarted", "RolloutCompleted"}, w.events)

	w.images["server"] = "v3"
	w.pass()
	assert.Equal(t, "v2 v2 v3", w.deployed(), "only what changed")
	w.rollOut("server")
	w.pass()
	assert.Equal(t, []string{"2Completed", "3Completed"}, w.revisions(), "two are kept")
	w.images["server"] = "v2"
	w.pass()
	assert.Equal(t, []string{"3Completed", "4Progressing"}, w.revisions(), "the older one is desired again")
	w.rollOut("server")
	w.pass()
	assert.Equal(t, []string{"3Completed", "4Completed"}, w.revisions())
}

func TestHalt(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	w.desire("v2")
	w.pass()
	w.rollOut("controller")
	w.pass()
	w.fail("broker")
	res := w.pass()
	assert.Regexp(t, `^Deployment.apps default/broker: ProgressDeadlineExceeded: ReplicaSet "broker-\w+" has timed out progressing.$`,
		builder.RolloutFailure(res).String())
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed(), "nothing later is touched")
	assert.Equal(t, []string{"RolloutCompleted", "RolloutStarted", "RolloutHalted"}, w.events, "once")
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Equal(t, events.ReasonRolloutHalted, conditions[0].Reason)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)

	// Drift is repaired in any phase.
	w.delete(w.get("server"))
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed(), "recreated as it was")
	w.rollOut("server")
	edited := w.get("server")
	edited.Spec.Template.Spec.Containers[0].Image = "edited"
	w.update(edited)
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed(), "put back to what it was")

	w.desire("v3")
	w.rollOut("server")
	w.pass()
	assert.Equal(t, "v3 v2 v1", w.deployed(), "a new roll-out begins at the first phase")
	assert.Equal(t, []string{"1Completed", "3Progressing"}, w.revisions())
	w.rollOut("controller")
	w.pass()
	w.rollOut("broker")
	w.pass()
	w.rollOut("server")
	w.pass()
	assert.Equal(t, "v3 v3 v3", w.deployed())
	assert.Equal(t, rollout.Completed, w.pass().Rollout.State)
}

func TestDriftOfAnUnchangedChildIsRepairedWhileItsPhaseIsPaused(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	w.images["controller"] = "v2"
	w.pass()
	edited := w.get("server")
	edited.Spec.Template.Spec.Containers[0].Image = "edited"
	w.update(edited)
	w.pass()
	assert.Equal(t, "v2 v1 v1", w.deployed())
}

func TestOvertakenRolloutLeavesLaterPhases(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	w.desire("v2")
	w.pass()
	w.rollOut("controller")
	w.pass()
	w.rollOut("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.deployed())
	w.desire("v3")
	w.pass()
	assert.Equal(t, "v3 v2 v2", w.deployed(), "not back to v1 in between")
	w.desire("v1")
	w.pass()
	assert.Equal(t, "v1 v2 v2", w.deployed(), "also what was completed is returned to in order")
	assert.Equal(t, []string{"1Completed"}, w.revisions())
	w.rollOut("controller")
	w.pass()
	assert.Equal(t, "v1 v1 v2", w.deployed())
}

func TestErrorsHoldLaterPhases(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	w.desire("v2")
	invalid := func(c buildertest.Call) error { return apierrors.NewInvalid(c.Kind, c.Name, nil) }
	for _, verb := range []buildertest.Verb{buildertest.VerbApply, buildertest.VerbPatch} {
		w.ours.Fail(buildertest.Fault{Verb: verb, Name: "controller", Error: invalid})
	}
	res, err := w.passErr()
	assert.True(t, builder.IsTerminal(err))
	assert.Equal(t, "v1 v1 v1", w.deployed())
	assert.Len(t, paused(res), 2)
	w.ours.Heal()
	w.pass()
	assert.Equal(t, "v2 v1 v1", w.deployed())
}

func TestPruningWaitsForAllPhases(t *testing.T) {
	w := newPhasedWorld(t)
	w.more = func(b *builder.Builder) { b.Deployment(w.deployment("free", "v1")) }
	w.install()
	w.more = nil
	w.desire("v2")
	delete(w.images, "server")
	w.pass()
	assert.Equal(t, "v2 v1 v1", w.deployed())
	w.get("free")
	w.rollOut("controller")
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed(), "not done yet")
	w.rollOut("broker")
	w.pass()
	assert.Equal(t, "v2 v2 -", w.deployed())
	assert.Contains(t, w.writes, "delete Deployment.apps default/free")
}

func TestChildrenWithoutPhaseComeFirstAndAreNotWaitedFor(t *testing.T) {
	w := newPhasedWorld(t)
	image := "v1"
	w.more = func(b *builder.Builder) { b.Deployment(w.deployment("free", image)) }
	w.install()
	w.desire("v2")
	image = "v2"
	w.pass()
	assert.Contains(t, w.writes[0], "free")
	assert.Equal(t, "v2 v1 v1", w.deployed())
	w.rollOut("controller")
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed())
}

func TestMisusedPhases(t *testing.T) {
	e := newPhasedWorld(t).engine
	in := func(owner client.Object, phases ...string) *builder.Builder {
		return e.For(owner).Rollout(rollout.Options{Phases: phases})
	}
	child := newConfigMap("default", "c", "")
	cluster := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", UID: "1"}}
	for says, b := range map[string]*builder.Builder{
		`phase "x"`:        in(newOwner(), "a").ConfigMap(child, builder.InPhase("x")),
		"named twice":      in(newOwner(), "a", "a"),
		"is empty":         in(newOwner(), ""),
		"need an owner in": in(cluster, "a"),
		"desired twice":    in(newOwner(), "a").ConfigMap(child, builder.InPhase("a")).ConfigMap(child, builder.InPhase("a")),
	} {
		_, err := b.Reconcile(t.Context())
		assert.ErrorIs(t, err, builder.ErrMisuse)
		assert.ErrorContains(t, err, says)
	}
	_, err := in(newOwner(), "a").Create(t.Context(), child, builder.InPhase("a"))
	assert.ErrorIs(t, err, builder.ErrMisuse)
}

// A child that fails by what others say halts the roll-out, and is named.
func TestReadyWhenHaltsARollOut(t *testing.T) {
	w := newPhasedWorld(t)
	sick, pod := "", "-0"
	w.each = []builder.ChildOption{builder.ReadyWhen(func(child client.Object) readiness.Status {
		if child.GetName() != sick {
			return readiness.Of(child)
		}
		return readiness.Status{Failed: true, Message: "pod " + child.GetName() + pod + ": CrashLoopBackOff"}
	})}
	w.install()
	w.images["controller"], w.images["broker"] = "v2", "v2"
	sick = "controller"
	res := w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	assert.Equal(t, "Deployment.apps default/controller: pod controller-0: CrashLoopBackOff", builder.RolloutFailure(res).String())
	assert.Equal(t, []string{"broker"}, paused(res))
	assert.Equal(t, []string{"RolloutCompleted", "RolloutStarted", "RolloutHalted"}, w.events)
	pod = "-1"
	assert.Contains(t, builder.RolloutFailure(w.pass()).String(), "controller-1")
	assert.Len(t, w.events, 3, "once, whatever else is wrong with the child")

	w.rollOut("controller")
	w.pass()
	assert.Equal(t, "v2 v1 v1", w.deployed(), "what the child says of itself isn't enough")
	sick = ""
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed())
}

// A dry run beside the passes keeps no event from them.
func TestADryRunSwallowsNoEvent(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	w.desire("v2")
	w.pass()
	w.fail("controller")
	_, err := w.builder().Diff(t.Context())
	require.NoError(t, err)
	assert.NotContains(t, w.events, "RolloutHalted")
	w.pass()
	assert.Contains(t, w.events, "RolloutHalted")
}
