package explain

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 120 * time.Second
	pollEvery = time.Second // each poll is a process
)

// place is the cluster, and a namespace in which a manager runs.
type place struct {
	*harness.Place
	// full is another namespace where it runs, which has no room for pods; unwatched is one without a manager; locked is one whose
	// manager may create nothing.
	full, unwatched, locked string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{
		Place: harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme),
		full:  testcluster.Namespace(t), unwatched: testcluster.Namespace(t), locked: testcluster.Namespace(t),
	}
	binary.StartManager(t, p.Namespace, p.full)
	return p
}

// create creates objects in the place's namespace, or in the one that they name.
func (p *place) create(objs ...client.Object) {
	p.T.Helper()
	for _, obj := range objs {
		if obj.GetNamespace() == "" {
			obj.SetNamespace(p.Namespace)
		}
		require.NoError(p.T, p.Client.Create(context.Background(), obj), "%T %s", obj, obj.GetName())
	}
}

// clean deletes objects that are in no namespace when the test ends.
func (p *place) clean(objs ...client.Object) {
	p.T.Cleanup(func() {
		for _, obj := range objs {
			if err := client.IgnoreNotFound(p.Client.Delete(context.Background(), obj)); err != nil {
				p.T.Logf("delete %s: %v", obj.GetName(), err)
			}
		}
	})
}

// finding is what explain prints as JSON.
type finding struct {
	Phase, Reason, Message, Next string
	Object                       struct{ Kind, Name string }
	Path                         []struct{ Kind, Name string }
}

func (f finding) kinds() string {
	var kinds []string
	for _, step := range f.Path {
		kinds = append(kinds, step.Kind)
	}
	return strings.Join(kinds, " ")
}

// explain asks until the answer is as wanted, and returns the last one.
func explain(t *testing.T, namespace, what string, done func(finding) bool) (found finding, code int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		out, errs, c := binary.RunIn(t, namespace, "explain", what, "-o", "json")
		require.Less(t, c, 2, "explain %s: %s", what, errs)
		found, code = finding{}, c
		require.NoError(t, json.Unmarshal([]byte(out), &found), out)
		if done(found) || time.Now().After(deadline) {
			return found, code
		}
		time.Sleep(pollEvery)
	}
}

// eventually waits for something in the cluster.
func (p *place) eventually(what string, done func() error) {
	p.T.Helper()
	var err error
	require.Eventually(p.T, func() bool { err = done(); return err == nil }, patience, 50*time.Millisecond, "%s: %v", what, &lazyError{&err})
}

// lazyError is the last error of something that is tried again and again.
type lazyError struct{ err *error }

func (l *lazyError) String() string { return fmt.Sprint(*l.err) }
