//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

const (
	// deadline is every deadline and time to live of testdata/deadlines.yaml.
	deadline = 20 * time.Second
	// slack is how late something may be on a machine that is busy. It is less than deadline, by which a
	// deadline would be late that is counted from when the manager started.
	slack = 15 * time.Second
)

// timed are the objects of testdata/deadlines.yaml.
var timed = []struct {
	kind, late, done string
	// began is where the status of late tells from when its deadline counts.
	began []string
}{
	{"JobFlow", "late", "done", []string{"status", "startTime"}},
	{"DaemonJob", "late", "done", []string{"status", "startTime"}},
	{"ReplicaJob", "late", "done", []string{"status", "startTime"}},
	{"MiniCluster", "late-cluster", "done-cluster", []string{"status", "startTime"}},
	{"FluxJob", "late-queued", "done-queued", []string{"status", "admission", "time"}},
}

var completionTime = []string{"status", "completionTime"}

// There is no manager for a while, and then there is a new one, before any of the deadlines is over: they count from when things
// began, by the API's own times, and not from when the manager did.
//
// The machine's clock can't be set for a test: it is everyone's, and a time namespace has none of its own for the time of
// day. So what is shown is where the time is counted from, of times that one clock wrote.
func TestDeadlinesOutliveManagers(t *testing.T) {
	s := newFault(t)
	s.awaitManagers()
	_, err := kubectl("apply", "--namespace", s.name, "--filename", "testdata/deadlines.yaml")
	require.NoError(t, err)
	s.removeQueue()
	began, ended := map[string]time.Time{}, map[string]time.Time{}
	s.eventually("some to have begun, and the others to have ended", func() error {
		// All of them each time: what has ended first is gone when the last one has, if the machine is slow.
		var errs []error
		for _, of := range timed {
			errs = append(errs, s.noteTime(began, of.kind, of.late, of.began), s.noteTime(ended, of.kind, of.done, completionTime))
		}
		return errors.Join(errs...)
	})

	pods, err := managers(t.Context())
	require.NoError(t, err)
	var killed []string
	for i := range pods {
		require.NoError(t, crash(t.Context(), &pods[i]))
		killed = append(killed, pods[i].Name)
	}
	next := s.awaitLeader(killed...)

	for _, of := range timed {
		failed := map[string]time.Time{}
		s.eventually("the end of "+of.late, func() error { return s.noteTime(failed, of.kind, of.late, completionTime) })
		s.requireExceeded(of.kind, of.late)
		requireOnTime(t, of.kind+"'s deadline", began[of.kind], failed[of.kind], next.since)
		s.eventually(of.kind+" is deleted", func() error {
			err := cluster.Get(t.Context(), client.ObjectKey{Namespace: s.name, Name: of.done}, object(of.kind))
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there (%w)", err)
			}
			return nil
		})
		var deleted time.Time
		s.eventually("the deletion of "+of.done+" in the audit log", func() (err error) { // which may lag behind
			deleted, err = s.deletionOf(of.kind, of.done)
			return err
		})
		requireOnTime(t, of.kind+"'s time to live", ended[of.kind], deleted, next.since)
	}
	s.requireNothingTwice()
}

// requireOnTime fails if something happened before its time, or late: after it, and after there was a manager to see to it.
func requireOnTime(t *testing.T, what string, begin, happened, led time.Time) {
	t.Helper()
	due := begin.Add(deadline)
	assert.False(t, happened.Before(due.Add(-time.Second)), "%s: it came at %s, before %s", what, happened, due) // times are whole seconds
	latest := due
	if led.After(due) {
		latest = led
	}
	assert.True(t, happened.Before(latest.Add(slack)), "%s: it came at %s, long after %s; the manager leads since %s", what, happened, due, led)
}

func object(kind string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind))
	return obj
}

// noteTime notes a time in an object's status by its kind, unless it is noted already.
func (s *space) noteTime(noted map[string]time.Time, kind, name string, field []string) error {
	if !noted[kind].IsZero() {
		return nil
	}
	obj := object(kind)
	if err := cluster.Get(s.Context(), client.ObjectKey{Namespace: s.name, Name: name}, obj); err != nil {
		return err
	}
	text, _, err := unstructured.NestedString(obj.Object, field...)
	if err != nil {
		return err
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, name, err)
	}
	noted[kind] = at
	return nil
}

// requireExceeded fails unless an object has ended with the reason DeadlineExceeded.
func (s *space) requireExceeded(kind, name string) {
	s.Helper()
	obj := object(kind)
	require.NoError(s, cluster.Get(s.Context(), client.ObjectKey{Namespace: s.name, Name: name}, obj))
	conditions, _, err := unstructured.NestedSlice(obj.Object, "status", "conditions")
	require.NoError(s, err)
	for _, c := range conditions {
		condition := c.(map[string]any)
		if (condition["type"] == "Failed" || condition["type"] == v1alpha1.ConditionJobFinished) && condition["status"] == "True" {
			assert.Equal(s, "DeadlineExceeded", condition["reason"], kind)
			return
		}
	}
	s.Errorf("%s %s has not failed: %v", kind, name, conditions)
}

// deletionOf is when an operator deleted an object.
func (s *space) deletionOf(kind, name string) (at time.Time, err error) {
	s.Helper()
	mapping, err := cluster.RESTMapper().RESTMapping(v1alpha1.GroupVersion.WithKind(kind).GroupKind())
	require.NoError(s, err)
	for _, w := range s.history() {
		if w.verb == "delete" && w.name == name && w.resource == mapping.Resource.Resource+"."+v1alpha1.GroupVersion.Group && w.byOperator() {
			at = w.at
		}
	}
	if at.IsZero() {
		err = fmt.Errorf("no operator deleted %s %s", kind, name)
	}
	return at, err
}
