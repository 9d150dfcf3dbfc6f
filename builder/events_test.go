package builder

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/store"
)

// notebook is a recorder.
type notebook struct {
	notes   []string
	related []runtime.Object
}

func (n *notebook) Eventf(_, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	n.notes = append(n.notes, eventtype+" "+reason+" "+action+": "+fmt.Sprintf(note, args...))
	n.related = append(n.related, related)
}

func change(op string, kind, name string) Change {
	return Change{Reason: op, Key: store.Key{Kind: kind, Namespace: "default", Name: name}, object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}}
}

func TestChangesAreTold(t *testing.T) {
	n := &notebook{}
	e := NewEngine(nil, Options{Recorder: n})
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	res := Result{Changes: []Change{change(events.ReasonCreated, "ConfigMap", "a"), change(events.ReasonCreated, "Secret", "s")}}
	for i := range 1000 {
		res.Changes = append(res.Changes, change(events.ReasonDeleted, "ConfigMap", fmt.Sprint("c", i)))
	}
	e.emitResult(owner, "", res, nil)
	assert.Equal(t, []string{
		"Normal Created Apply: Created ConfigMap a",
		"Normal Created Apply: Created Secret s",
		"Normal Deleted Prune: Deleted 1000 objects of kind ConfigMap: c0, c1, c2 and 997 more",
	}, n.notes, "one for each operation and kind")
	assert.Equal(t, "a", n.related[0].(*corev1.ConfigMap).Name)
}

// client-go merges two events about one child, and drops the note of the second.
func TestFieldsLeftByAllManagersAreToldAtOnce(t *testing.T) {
	n := &notebook{}
	e := NewEngine(nil, Options{Recorder: n})
	updated := change(events.ReasonUpdated, "ConfigMap", "a")
	updated.fieldsLeft = []apply.FieldsLeft{{Manager: "old", Fields: []string{"data.a"}}, {Manager: "older", Fields: []string{"data.b"}}}
	e.emitResult(&corev1.ConfigMap{}, "", Result{Changes: []Change{updated}}, nil)
	require.Len(t, n.notes, 2)
	assert.Contains(t, n.notes[1], "ConfigMap a keeps data.a, which aren't desired: field manager old has set them.")
	assert.Contains(t, n.notes[1], "; and data.b, which aren't desired: field manager older has set them.")
	assert.Same(t, updated.object, n.related[1])
}

func TestFailuresAreToldOnce(t *testing.T) {
	n := &notebook{}
	e := NewEngine(nil, Options{Recorder: n})
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{UID: "1"}}
	emitted := func(scope string, err error) int {
		n.notes = nil
		e.emitResult(owner, scope, Result{}, err)
		return len(n.notes)
	}
	assert.Equal(t, 1, emitted("", of(full)))
	assert.Equal(t, 0, emitted("", of(full)), "the same")
	assert.Equal(t, 0, emitted("", of(conflict)), "no news")
	assert.Equal(t, 0, emitted("", of(full)), "a conflict in between changes nothing")
	assert.Equal(t, 0, emitted("ConfigMap", nil))
	assert.Equal(t, 0, emitted("", of(full)), "nor does another scope's success")
	assert.Equal(t, 1, emitted("", of(ErrNotOwned)))
	assert.Equal(t, "Warning NotOwned Apply: create Pod p: exists and is not ours", n.notes[0])
	assert.Equal(t, 0, emitted("", nil))
	assert.Equal(t, 1, emitted("", of(ErrNotOwned)), "again, after a success")

	other := owner.DeepCopy()
	other.UID = "2"
	e.emitResult(other, "", Result{}, of(ErrNotOwned))
	assert.Len(t, n.notes, 2, "another owner's")
}

func TestFailureNamesItsObject(t *testing.T) {
	child := &corev1.Pod{}
	err := errors.Join(errMisused, &Error{Operation: "create", cause: full, object: child})
	assert.Same(t, child, failureEvent(err).Related)
	assert.Nil(t, failureEvent(errMisused).Related)
}
