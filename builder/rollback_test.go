package builder_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

const patience = 5 * time.Minute

// stuckAtBroker returns a world in which the upgrade to v2 gets as far as the broker.
func stuckAtBroker(t *testing.T) *phasedWorld {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.install()
	w.desire("v2")
	w.pass()
	w.step(patience - time.Minute)
	w.rollOut("controller")
	w.pass()
	require.Equal(t, "v2 v2 v1", w.deployed())
	return w
}

func TestRollback(t *testing.T) {
	w := stuckAtBroker(t)
	from := w.pass().Rollout.From
	assert.Empty(t, w.writes)
	w.step(patience - 2*time.Second)
	res := w.pass()
	assert.Equal(t, 2*time.Second, res.RequeueAfter, "each phase has its time")
	assert.Equal(t, w.Now().Add(2*time.Second), res.Rollout.RollsBackAt.UTC())
	w.restart() // the time is not in memory
	w.fail("broker")
	res = w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Contains(t, conditions[0].Message, "to be rolled back to "+from+" at 2026-")
	assert.Equal(t, metav1.ConditionFalse, conditions[2].Status, "something will happen")

	w.step(time.Second)
	res = w.pass()
	assert.Equal(t, rollout.RolledBack, res.Rollout.State)
	assert.Equal(t, time.Millisecond, res.RequeueAfter, "at once")
	res = w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	assert.Equal(t, []string{"apply Deployment.apps default/broker", "apply Deployment.apps default/controller"}, w.writes,
		"the last phase first")
	assert.Zero(t, res.RequeueAfter)
	assert.Equal(t, from, res.Rollout.From)
	assert.Contains(t, res.Rollout.Message, "not ready after 5m0s: phase broker: Deployment.apps default/broker: ProgressDeadlineExceeded")
	res.SetConditions(&conditions, 1, nil, w.Now())
	assert.Equal(t, events.ReasonRolledBack, conditions[0].Reason)
	assert.Contains(t, conditions[0].Message, res.Rollout.From)
	assert.Contains(t, conditions[0].Message, res.Rollout.To)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)
	assert.Equal(t, "RolledBack", w.events[len(w.events)-1])

	// It is remembered, and what drifts returns to what was before.
	w.restart()
	w.step(time.Hour)
	w.pass()
	assert.Empty(t, w.writes)
	w.delete(w.get("server"))
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	assert.Equal(t, []string{"1Completed", "2RolledBack"}, w.revisions())

	// Once something else was desired, it may be tried again.
	w.rollOut(phaseNames...)
	w.desire("v3")
	w.pass()
	assert.Equal(t, "v3 v1 v1", w.deployed())
	w.desire("v2")
	assert.Equal(t, rollout.Progressing, w.pass().Rollout.State)
	assert.Equal(t, "v2 v1 v1", w.deployed())
}

func TestRolledBackMayBeTriedAgainByHand(t *testing.T) {
	w := stuckAtBroker(t)
	w.step(patience)
	res := w.pass()
	w.delete(&appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: res.Rollout.To}})
	assert.Equal(t, rollout.Progressing, w.pass().Rollout.State)
}

func TestNoRollbackOfAFirstInstallOrWithoutThePolicy(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: time.Minute}
	w.pass()
	w.step(time.Hour)
	assert.Equal(t, rollout.Installing, w.pass().Rollout.State)

	w = stuckAtBroker(t)
	w.options = rollout.Options{}
	w.step(time.Hour)
	res := w.pass()
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	assert.Zero(t, res.RequeueAfter)
	w.rollOut("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.deployed())
}

func TestRollbackTakesBackWhatWasAdded(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	delete(w.images, "server")
	w.install()
	w.desire("v2")
	w.images["server"] = "v1"
	w.pass()
	w.rollOut("controller")
	w.pass()
	w.rollOut("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed())
	w.step(patience)
	w.pass()
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed(), "pruned when all is ready")
	w.rollOut("controller", "broker")
	w.pass()
	assert.Equal(t, "v1 v1 -", w.deployed())
}

// A pass may end between the record of the completed install and its name in the owner's status, and then something else is desired.
func TestAnInstallThatIsNotOnRecordIsChangedInPhases(t *testing.T) {
	w := newPhasedWorld(t)
	w.record = new("")
	w.install()
	require.NotEmpty(t, *w.record)
	*w.record = ""
	w.desire("v2")
	assert.Equal(t, rollout.Installing, w.pass().Rollout.State)
	assert.Equal(t, "v2 v1 v1", w.deployed())
	w.rollOut(phaseNames...)
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.deployed())
}

// With PruneAll a kind of which the plan has no object any more is a leftover, but not while a rollback desires one.
func TestRollbackKeepsAKindThatThePlanHasNoMore(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	require.NoError(t, w.engine.Index(t.Context(), w.ours, &corev1.ConfigMap{}))
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings"}, Data: map[string]string{"a": "v1"}}
	w.more = func(b *builder.Builder) { b.PruneAll().ConfigMap(config.DeepCopy(), builder.InPhase("broker")) }
	w.install()
	w.more = func(b *builder.Builder) { b.PruneAll() }
	w.desire("v2")
	w.pass()
	w.step(patience)
	assert.Equal(t, rollout.RolledBack, w.pass().Rollout.State)
	w.pass()
	w.rollOut(phaseNames...)
	settings := client.ObjectKey{Namespace: "default", Name: "settings"}
	kept := func(what string) {
		t.Helper()
		found := &corev1.ConfigMap{}
		require.NoError(t, w.others.Get(t.Context(), settings, found), what)
		assert.Equal(t, "v1", found.Data["a"])
	}
	w.pass()
	kept("everything is restored and ready")
	w.ours.Ledger().Reset()
	w.pass()
	assert.Empty(t, w.ours.Ledger().Calls(), "it lists nothing past the cache again and again")
	w.delete(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "settings"}})
	w.pass()
	kept("restored")
	w.desire("v3")
	for range phaseNames {
		w.pass()
		w.rollOut(phaseNames...)
	}
	w.pass()
	assert.Error(t, w.others.Get(t.Context(), settings, &corev1.ConfigMap{}), "a leftover at last")
}

// A ControllerRevision may be a child, such as the journal of an effect. When the last one isn't desired any more, the kind is a leftover,
// and the builder's own records of that kind stay.
func TestRecordsAreNoLeftovers(t *testing.T) {
	w := newMigratingWorld(t)
	mine := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Revision: 1}
	migrate := w.more
	w.more = func(b *builder.Builder) { migrate(b.PruneAll().Object(mine.DeepCopy())) }
	names := func() (names []string) {
		list := &appsv1.ControllerRevisionList{}
		require.NoError(t, w.others.List(t.Context(), list))
		for _, r := range list.Items {
			names = append(names, r.Name)
		}
		return names
	}
	w.installed()
	before := names()
	require.Len(t, before, 3, "of the roll-out, of the run, and the child")
	w.more = func(b *builder.Builder) { migrate(b.PruneAll()) }
	w.pass()
	assert.ElementsMatch(t, slices.DeleteFunc(before, func(name string) bool { return name == "mine" }), names())
}

func TestRollbackOfUnstructuredChildren(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	value := "v1"
	w.more = func(b *builder.Builder) {
		b.Object(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "loose"}, "data": map[string]any{"a": value},
		}}, builder.InPhase("broker"))
	}
	w.install()
	value = "v2"
	w.desire("v2")
	w.pass()
	config := &corev1.ConfigMap{}
	get := func() string {
		require.NoError(t, w.others.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "loose"}, config))
		return config.Data["a"]
	}
	assert.Equal(t, "v1", get())
	w.delete(config)
	w.pass()
	assert.Equal(t, "v1", get(), "as it was")
	w.rollOut("controller")
	w.pass()
	assert.Equal(t, "v2", get())
	w.step(patience)
	w.pass()
	w.pass()
	assert.Equal(t, "v1", get())
	assert.Equal(t, "v1 v1 v1", w.deployed())
	w.pass()
	assert.Empty(t, w.writes)
}

func TestSecretsAreNotKept(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	password := "hunter2"
	w.more = func(b *builder.Builder) {
		for _, phase := range []string{"controller", "server"} {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: phase}, StringData: map[string]string{"password": password}}
			b.Object(secret, builder.InPhase(phase))
		}
	}
	w.install()
	password = "hunter3"
	w.desire("v2")
	w.pass()
	var list appsv1.ControllerRevisionList
	require.NoError(t, w.others.List(t.Context(), &list))
	require.Len(t, list.Items, 2)
	for _, r := range list.Items {
		assert.NotContains(t, string(r.Data.Raw), "aHVudGVy")
		assert.NotContains(t, string(r.Data.Raw), "hunter")
	}
	w.step(patience)
	w.pass()
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	stored := func(phase string) (*corev1.Secret, string) {
		secret := &corev1.Secret{}
		require.NoError(t, w.others.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: phase}, secret))
		return secret, string(secret.Data["password"])
	}
	secret, found := stored("controller")
	assert.Equal(t, "hunter3", found, "it stays as it is")
	_, found = stored("server")
	assert.Equal(t, "hunter2", found, "a change that waited is not made now")
	w.delete(secret)
	w.pass()
	_, found = stored("controller")
	assert.Equal(t, "hunter3", found)
}

func TestTooLargeForARollback(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.more = func(b *builder.Builder) {
		noise := rand.NewChaCha8([32]byte{}) // which doesn't compress
		for _, name := range []string{"a", "b"} {
			c := newConfigMap("default", name, "")
			c.BinaryData = map[string][]byte{"noise": make([]byte, 400<<10)}
			_, err := noise.Read(c.BinaryData["noise"])
			require.NoError(t, err)
			b.ConfigMap(c, builder.InPhase("controller"))
		}
	}
	w.install()
	w.desire("v2")
	w.pass()
	w.step(patience)
	res := w.pass()
	require.NotNil(t, builder.RolloutFailure(res))
	assert.Contains(t, builder.RolloutFailure(res).Message, "can't be rolled back: the last completed revision was too large")
	assert.Equal(t, "v2 v1 v1", w.deployed())
	assert.Zero(t, res.RequeueAfter)
}
