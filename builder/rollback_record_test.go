package builder

import (
	"encoding/json"
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
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/internal/wellknown"
)

// tamper changes the data of the last completed revision as someone who may write ControllerRevisions can.
func (w *town) tamper(t *testing.T, change func(string) string) {
	t.Helper()
	last := w.lastCompleted(t)
	data := change(string(last.Data.Raw))
	require.NotEqual(t, string(last.Data.Raw), data)
	last.Data = runtime.RawExtension{Raw: []byte(data)}
	require.NoError(t, w.e.client.Update(t.Context(), last))
}

func (w *town) lastCompleted(t *testing.T) *appsv1.ControllerRevision {
	t.Helper()
	var all appsv1.ControllerRevisionList
	require.NoError(t, w.e.client.List(t.Context(), &all))
	var last *appsv1.ControllerRevision
	for i := range all.Items {
		var record revision.Record
		require.NoError(t, json.Unmarshal([]byte(all.Items[i].Annotations[wellknown.AnnotationRollout]), &record))
		if record.State == rollout.Completed && (last == nil || last.Revision < all.Items[i].Revision) {
			last = &all.Items[i]
		}
	}
	require.NotNil(t, last)
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
			last := w.lastCompleted(t).Name
			w.tamper(t, change)
			w.now = w.now.Add(patience)
			w.pass()
			res := w.pass()
			require.NotNil(t, res.rolloutFailure())
			assert.Contains(t, res.rolloutFailure().Message, "it can't be rolled back: ControllerRevision "+last)
			assert.Equal(t, "v2 v2 v1", w.running(), "all stays")
			w.now = w.now.Add(time.Hour)
			w.pass()
			assert.Empty(t, w.writes)
		})
	}
}

func TestARevisionIsEditedDuringTheRollback(t *testing.T) {
	for name, change := range tampered {
		t.Run(name, func(t *testing.T) {
			w := stuckAtBroker(t)
			w.now = w.now.Add(patience)
			w.pass() // notes it
			require.Equal(t, []string{"1Completed", "2RolledBack"}, w.revisions())
			w.tamper(t, change)
			before := w.running()
			res := w.pass()
			assert.Equal(t, before, w.running(), "nothing is changed, and nothing pruned")
			require.NotNil(t, res.rolloutFailure())
			assert.Contains(t, res.rolloutFailure().Message, "ControllerRevision")
			var conditions []metav1.Condition
			res.SetConditions(&conditions, 1, nil, w.now)
			assert.Contains(t, conditions[0].Message, "ControllerRevision")
		})
	}
}

// A revision that someone else has made up is worth nothing if the completed one is on record in the owner's status.
func TestAForgedRevisionIsNotRolledBackTo(t *testing.T) {
	for name, keep := range map[string]func(*town){
		"by the condition": func(w *town) {
			w.flow = &v1alpha1.JobFlow{ObjectMeta: *owner().ObjectMeta.DeepCopy()}
		},
		"by the plan": func(w *town) { w.record = new("") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newTown(t)
			w.options = rollout.Options{RollbackAfter: patience}
			keep(w)
			// What is desired for once, so that its name and data fit one another, by a copy of the program that anyone can run.
			forger := newTown(t)
			keep(forger)
			forger.want("evil")
			forger.install()
			evil := forger.lastCompleted(t)
			evil.ResourceVersion, evil.Revision = "", 100
			require.NoError(t, w.e.client.Create(t.Context(), evil.DeepCopy()))
			assert.Empty(t, w.pass().Rollout.From, "nor at the first install")
			w.install()
			good := &appsv1.ControllerRevision{}
			from := w.pass().Rollout.From
			require.NotEqual(t, from, evil.Name)
			evil.Revision = 200
			require.NoError(t, client.IgnoreAlreadyExists(w.e.client.Create(t.Context(), evil)))

			w.want("v2")
			assert.Equal(t, from, w.pass().Rollout.From)
			w.now = w.now.Add(patience)
			w.pass()
			res := w.pass()
			assert.Equal(t, rollout.RolledBack, res.Rollout.State)
			assert.Equal(t, from, res.Rollout.From)
			assert.Equal(t, "v1 v1 v1", w.running())
			require.NoError(t, w.e.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: from}, good), "it is kept")
		})
	}
}

// The operator writes the record with each of the ways to set conditions, and keeps it where a plan sets them anew.
func TestTheCompletedRevisionIsOnRecord(t *testing.T) {
	now := time.Unix(1000, 0)
	res := Result{Rollout: &rollout.Status{State: rollout.Completed, From: "web-1"}}
	bare := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: "f"}}
	for _, report := range []bool{true, false} {
		after, err := statusAfter(bare, Plan[*v1alpha1.JobFlow]{Report: report}, res, nil, now)
		require.NoError(t, err)
		require.Equal(t, "web-1", rolledOutIn(after.Status.Conditions))
		assert.Empty(t, bare.Status)

		after.Generation = 0
		same, err := statusAfter(after, Plan[*v1alpha1.JobFlow]{Report: report}, res, nil, now.Add(time.Hour))
		require.NoError(t, err)
		assert.Equal(t, after.Status, same.Status, "no write")
		kept, err := statusAfter(after, Plan[*v1alpha1.JobFlow]{Report: report, Status: bare}, Result{}, ErrNotOwned, now)
		require.NoError(t, err)
		if !report {
			assert.Equal(t, "web-1", rolledOutIn(kept.Status.Conditions), "by a pass that fails before it knows")
		}
		next, err := statusAfter(after, Plan[*v1alpha1.JobFlow]{Report: report}, Result{Rollout: &rollout.Status{From: "web-2"}}, nil, now)
		require.NoError(t, err)
		assert.Equal(t, "web-2", rolledOutIn(next.Status.Conditions))
	}
}
