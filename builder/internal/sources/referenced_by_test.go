package sources

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/internal/throttle"
)

// sharedTemplate is an object that many owners of its namespace refer to, and a queue of an operator of theirs.
type sharedTemplate struct {
	*throttle.Queue
	object  *corev1.ConfigMap
	passes  map[reconcile.Request]int
	latest  map[reconcile.Request]string // the version that each owner's last pass has seen
	version int
}

func newSharedTemplate(namespace string, owners int, events *Throttle) (*sharedTemplate, func()) {
	s := &sharedTemplate{
		Queue:  throttle.NewQueue("", throttle.NewBackoff()).(*throttle.Queue),
		passes: map[reconcile.Request]int{}, latest: map[reconcile.Request]string{},
		object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shared", ResourceVersion: "0"}},
	}
	requests := make([]reconcile.Request, owners)
	for i := range requests {
		requests[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: fmt.Sprint("owner", i)}}
	}
	source := &referencedBy{throttle: events}
	h := source.handlerOf(func(context.Context, client.Object) []reconcile.Request { return requests })
	return s, func() {
		before := s.object.DeepCopy()
		s.version++
		s.object.ResourceVersion = fmt.Sprint(s.version)
		h.Update(context.Background(), event.UpdateEvent{ObjectOld: before, ObjectNew: s.object}, s)
	}
}

// work runs the passes that are due.
func (s *sharedTemplate) work() {
	synctest.Wait()
	for s.Len() > 0 {
		r, _ := s.Get()
		s.passes[r]++
		s.latest[r] = s.object.ResourceVersion
		s.Done(r)
	}
}

func (s *sharedTemplate) total() (n int) {
	for _, of := range s.passes {
		n += of
	}
	return n
}

// Whoever changes a template of thousands of owners again and again causes no more passes than a hundred a second, and each
// owner sees the last change.
func TestReferencedByIsThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const owners = 4000
		s, change := newSharedTemplate("default", owners, NewThrottle())
		defer s.ShutDown()
		for range 5 * 60 { // five times a second, for a minute
			change()
			s.work()
			time.Sleep(200 * time.Millisecond)
		}
		s.work()
		assert.InDelta(t, 1000+100*60, s.total(), 50)
		assert.Len(t, s.passes, owners, "nobody is left out")
		for r, n := range s.passes {
			assert.LessOrEqual(t, n, 3, r.Name)
		}
		for range owners {
			time.Sleep(throttleInterval)
			s.work()
		}
		for r, seen := range s.latest {
			assert.Equal(t, s.object.ResourceVersion, seen, r.Name)
		}
		assert.Len(t, s.latest, owners)
	})
}

// One change of what a thousand owners refer to reaches all of them at once, and so does that of a quiet namespace beside a busy one.
func TestReferencedByFewIsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		events := NewThrottle()
		busy, changeBusy := newSharedTemplate("busy", 3000, events)
		quiet, changeQuiet := newSharedTemplate("quiet", 1000, events)
		defer busy.ShutDown()
		defer quiet.ShutDown()
		changeBusy()
		changeQuiet()
		busy.work()
		quiet.work()
		assert.Equal(t, 1000, busy.total())
		assert.Equal(t, 1000, quiet.total())
		time.Sleep(20 * time.Second)
		busy.work()
		assert.Len(t, busy.passes, 3000)
		changeQuiet()
		quiet.work()
		assert.Equal(t, 2000, quiet.total(), "after a rest it is as before")
	})
}
