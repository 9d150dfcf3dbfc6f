//go:build e2e

package e2e

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/e2e/soakplan"
)

// soak carries out a script in a namespace of its own.
type soak struct {
	*space
	script  *soakplan.Script
	scraper *scraper
	// deletedJobs counts how often the soak may have deleted each Job by hand.
	deletedJobs map[string]int
	// finals are the objects of the script and of all waves by their names in the cluster, for the invariants.
	finals map[string]*soakplan.Object
	// log is the history, once all is over.
	log []write
	// lasting are the faults that go on in the background.
	lasting sync.WaitGroup
}

func newSoak(t *testing.T, script *soakplan.Script) *soak {
	t.Helper()
	s := &soak{space: newSpace(t), script: script, deletedJobs: map[string]int{}, finals: map[string]*soakplan.Object{}}
	s.scraper = newScraper(s.space)
	t.Cleanup(func() {
		_ = cluster.Delete(context.Background(), &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: s.name}})
	})
	return s
}

// storm carries out the steps, each at its time or as soon after it as the cluster answers.
func (s *soak) storm() {
	s.Helper()
	began := time.Now()
	for _, step := range s.script.Storm {
		s.until(began.Add(step.At))
		s.Log(step)
		s.take(step)
	}
	s.lasting.Wait()
}

// until pauses, as the random schedule has it.
func (s *soak) until(at time.Time) {
	s.Helper()
	select {
	case <-s.Context().Done():
		s.Fatal(s.Context().Err())
	case <-time.After(time.Until(at)):
	}
}

// take carries out a step. What users do is done again until it is done.
func (s *soak) take(step soakplan.Step) {
	s.Helper()
	switch step.Action {
	case soakplan.Create:
		s.create(step.Object, step.Object.Made.GetName())
	case soakplan.Patch:
		s.eventually(step.String(), func() error {
			err := cluster.Patch(s.Context(), s.handle(step.Object), client.RawPatch(types.MergePatchType, []byte(step.Patch)))
			if step.Object.Expect.Vanishes {
				return client.IgnoreNotFound(err)
			}
			return err
		})
	case soakplan.Delete:
		s.delete(step.Object)
	default:
		s.harm(step)
	}
}

// create makes an object under a name, and remembers it by that name.
func (s *soak) create(o *soakplan.Object, name string) client.Object {
	s.Helper()
	made := o.Made.DeepCopyObject().(client.Object)
	made.SetNamespace(s.name)
	made.SetName(name)
	switch made := made.(type) {
	case *v1alpha1.FluxSetup: // in no namespace
		made.Namespace, made.Name = "", s.name
	case *v1alpha1.FluxJob:
		made.Spec.Queue = s.name
	}
	s.finals[name] = o
	s.eventually("create "+o.String(), func() error {
		err := cluster.Create(s.Context(), made)
		if apierrors.IsAlreadyExists(err) { // the answer to an earlier try was lost
			return cluster.Get(s.Context(), client.ObjectKeyFromObject(made), made)
		}
		require.False(s, apierrors.IsInvalid(err) || apierrors.IsBadRequest(err), "%s: %v", o, err)
		return err
	})
	return made
}

// handle is an empty object with the kind and name of a script's object.
func (s *soak) handle(o *soakplan.Object) client.Object {
	handle := emptyOf(o)
	handle.SetName(o.Made.GetName())
	if handle.SetNamespace(s.name); o.Kind() == "FluxSetup" {
		handle.SetNamespace("")
		handle.SetName(s.name)
	}
	return handle
}

func emptyOf(o *soakplan.Object) client.Object {
	switch o.Made.(type) {
	case *v1alpha1.JobFlow:
		return &v1alpha1.JobFlow{}
	case *v1alpha1.DaemonJob:
		return &v1alpha1.DaemonJob{}
	case *v1alpha1.ReplicaJob:
		return &v1alpha1.ReplicaJob{}
	case *v1alpha1.MiniCluster:
		return &v1alpha1.MiniCluster{}
	case *v1alpha1.FluxJob:
		return &v1alpha1.FluxJob{}
	case *v1alpha1.JobTemplate:
		return &v1alpha1.JobTemplate{}
	default:
		return &v1alpha1.FluxSetup{}
	}
}

func (s *soak) delete(o *soakplan.Object) {
	s.Helper()
	s.deleteObject(s.handle(o))
}

func (s *soak) deleteObject(object client.Object) {
	s.Helper()
	s.eventually("delete "+object.GetName(), func() error {
		return client.IgnoreNotFound(cluster.Delete(s.Context(), object, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	})
}

// deleteAll deletes objects, and waits until nothing of them is left, nor of anything else.
func (s *soak) deleteAll(objects []*soakplan.Object) {
	s.Helper()
	for _, o := range objects {
		s.delete(o)
		if o.Kind() == "JobFlow" {
			s.deleteObject(&v1alpha1.JobTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: soakplan.Gate(o.Made.GetName())}})
		}
	}
	s.awaitEmpty()
}

// events are those of an object and what belongs to it, one a line.
func (s *soak) events(name string) string {
	out, _ := kubectl("get", "events", "--namespace", s.name, "--sort-by=.lastTimestamp", "--no-headers")
	var found []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, "/"+name+" ") || strings.Contains(line, "/"+name+"-") {
			found = append(found, line)
		}
	}
	return strings.Join(found, "")
}
