package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
)

// tamper changes the data of the last completed revision as someone who may write ControllerRevisions can.
func (w *phasedWorld) tamper(change func(string) string) {
	w.t.Helper()
	last := w.lastCompleted()
	data := change(string(last.Data.Raw))
	require.NotEqual(w.t, string(last.Data.Raw), data)
	last.Data = runtime.RawExtension{Raw: []byte(data)}
	w.update(last)
}

func (w *phasedWorld) lastCompleted() (last *appsv1.ControllerRevision) {
	w.t.Helper()
	var all appsv1.ControllerRevisionList
	require.NoError(w.t, w.others.List(w.t.Context(), &all))
	for i := range all.Items {
		record, _ := revision.ReadRecord(&all.Items[i], "test")
		if record.State == rollout.Completed && (last == nil || last.Revision < all.Items[i].Revision) {
			last = &all.Items[i]
		}
	}
	require.NotNil(w.t, last)
	return last
}

// tampered are changes of what a revision holds.
var tampered = map[string]func(string) string{
	"another image": func(data string) string { return strings.ReplaceAll(data, `"image":"v1"`, `"image":"evil"`) },
	"another child": func(data string) string { return strings.ReplaceAll(data, "broker", "bandit") },
	"what is ignored": func(data string) string {
		return strings.Replace(data, `"payload"`, `"ignored":["spec.paused"],"payload"`, 1)
	},
	"children left out":   func(data string) string { return `{"phases":["controller","broker","server"]}` },
	"no data that is any": func(data string) string { return `{"phases":1}` },
}

func TestNothingOfAnEditedRevisionIsWritten(t *testing.T) {
	for name, change := range tampered {
		t.Run(name, func(t *testing.T) {
			w := stuckAtBroker(t)
			last := w.lastCompleted().Name
			w.tamper(change)
			w.step(patience)
			w.pass()
			res := w.pass()
			require.NotNil(t, builder.RolloutFailure(res))
			assert.Contains(t, builder.RolloutFailure(res).Message, "it can't be rolled back: ControllerRevision "+last)
			assert.Equal(t, "v2 v2 v1", w.deployed(), "all stays")
			w.step(time.Hour)
			w.pass()
			assert.Empty(t, w.writes)
		})
	}
}

func TestARevisionIsEditedDuringTheRollback(t *testing.T) {
	for name, change := range tampered {
		t.Run(name, func(t *testing.T) {
			w := stuckAtBroker(t)
			w.step(patience)
			w.pass() // notes it
			require.Equal(t, []string{"1Completed", "2RolledBack"}, w.revisions())
			w.tamper(change)
			before := w.deployed()
			res := w.pass()
			assert.Equal(t, before, w.deployed(), "nothing is changed, and nothing pruned")
			require.NotNil(t, builder.RolloutFailure(res))
			assert.Contains(t, builder.RolloutFailure(res).Message, "ControllerRevision")
			var conditions []metav1.Condition
			res.SetConditions(&conditions, 1, nil, w.Now())
			assert.Contains(t, conditions[0].Message, "ControllerRevision")
		})
	}
}

// A revision that someone else has made up is worth nothing if the completed one is on record in the owner's status.
func TestAForgedRevisionIsNotRolledBackTo(t *testing.T) {
	for name, start := range map[string]func() *phasedWorld{
		"by the condition": func() *phasedWorld {
			return phasedWorldOf(t, &v1alpha1.JobFlow{ObjectMeta: newOwner().ObjectMeta})
		},
		"by the plan": func() *phasedWorld {
			w := newPhasedWorld(t)
			w.record = new("")
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := start()
			w.options = rollout.Options{RollbackAfter: patience}
			// What is desired for once, so that its name and data fit one another, by a copy of the program that anyone can run.
			forger := start()
			forger.desire("evil")
			forger.install()
			evil := forger.lastCompleted()
			evil.ResourceVersion, evil.Revision = "", 100
			require.NoError(t, w.others.Create(t.Context(), evil.DeepCopy()))
			assert.Empty(t, w.pass().Rollout.From, "nor at the first install")
			for range phaseNames { // for all that anyone knows the owner was installed before: in phases
				w.rollOut(phaseNames...)
				w.pass()
			}
			good := &appsv1.ControllerRevision{}
			from := w.pass().Rollout.From
			require.NotEqual(t, from, evil.Name)
			evil.Revision = 200
			require.NoError(t, client.IgnoreAlreadyExists(w.others.Create(t.Context(), evil)))

			w.desire("v2")
			assert.Equal(t, from, w.pass().Rollout.From)
			w.step(patience)
			w.pass()
			res := w.pass()
			assert.Equal(t, rollout.RolledBack, res.Rollout.State)
			assert.Equal(t, from, res.Rollout.From)
			assert.Equal(t, "v1 v1 v1", w.deployed())
			require.NoError(t, w.others.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: from}, good), "it is kept")
		})
	}
}
