package builder

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/revision"
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
		require.NoError(t, json.Unmarshal([]byte(all.Items[i].Annotations[AnnotationRollout]), &record))
		if record.State == revision.Completed && (last == nil || last.Revision < all.Items[i].Revision) {
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
			require.NotNil(t, res.RolloutFailure)
			assert.Contains(t, res.RolloutFailure.Message, "it can't be rolled back: ControllerRevision "+last)
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
			require.NotNil(t, res.RolloutFailure)
			assert.Contains(t, res.RolloutFailure.Message, "ControllerRevision")
			var conditions []Condition
			res.SetConditions(&conditions, 1, nil, w.now)
			assert.Contains(t, conditions[0].Message, "ControllerRevision")
		})
	}
}

// With the completed revision on record in the owner's status, one that someone else has made is worth nothing.
func TestAForgedRevisionIsNotRolledBackTo(t *testing.T) {
	w := newTown(t)
	w.options = RolloutOptions{RollbackAfter: patience}
	w.record = ptr.To("")
	w.install()
	good := w.lastCompleted(t)
	require.Equal(t, good.Name, *w.record)

	// What is desired for once, so that its name and data fit one another, by a copy of the program that anyone can run.
	forger := newTown(t)
	forger.want("evil")
	forger.install()
	evil := forger.lastCompleted(t)
	require.NotEqual(t, good.Name, evil.Name)
	evil.ResourceVersion, evil.Revision = "", good.Revision+7
	require.NoError(t, w.e.client.Create(t.Context(), evil))

	w.want("v2")
	res := w.pass()
	assert.Equal(t, good.Name, res.Rollout.From)
	w.now = w.now.Add(patience)
	w.pass()
	res = w.pass()
	assert.Equal(t, RolloutRolledBack, res.Rollout.State)
	assert.Equal(t, good.Name, res.Rollout.From)
	assert.Equal(t, "v1 v1 v1", w.running())
	require.NoError(t, w.e.client.Get(t.Context(), client.ObjectKeyFromObject(good), good), "it is kept")
}
