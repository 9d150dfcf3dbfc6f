package story

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// addManager is the command manager: it starts a further manager, which acts beside the others.
func addManager(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, 1); err != nil {
		return "", err
	}
	_, err := s.world.AddManager(l.Words[0], s.config.Operators...)
	return "", err
}

// manager returns the manager that a line names, by default the first one.
func (s *Story) manager(l Line) (*world.Manager, error) {
	name := Manager
	for _, word := range l.Words {
		if word != "lost" {
			name = word
		}
	}
	for _, m := range s.world.Managers() {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("%s: there is no manager %q", l.Command, name)
}

// crash is the command crash: "crash after=1 lost" crashes a manager after its next write, whose reply is lost. Its next process starts
// when the cluster settles. Without after it crashes at once.
func crash(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "after"); err != nil {
		return "", err
	}
	m, err := s.manager(l)
	if err != nil {
		return "", err
	}
	after, err := number(l, "after", 0)
	if err != nil {
		return "", err
	}
	var options []buildertest.CrashOption
	if has(l, "lost") {
		options = append(options, buildertest.LosingReply())
	}
	m.Client().CrashAfter(int(after), options...)
	return "", nil
}

// stop is the command stop: a manager ends, and stays ended.
func stop(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	m, err := s.manager(l)
	if err != nil {
		return "", err
	}
	m.Stop()
	return "", nil
}

// start is the command start: a new process of a stopped manager.
func start(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1); err != nil {
		return "", err
	}
	m, err := s.manager(l)
	if err != nil {
		return "", err
	}
	return "", m.Start()
}

// lag is the command lag: "lag changes=3 kind=Job" makes a manager's caches lag behind, all or that of one kind.
func lag(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "changes", "kind"); err != nil {
		return "", err
	}
	m, err := s.manager(l)
	if err != nil {
		return "", err
	}
	n, err := number(l, "changes", 1)
	if err != nil {
		return "", err
	}
	kind, ok, err := value(l, "kind")
	if err != nil || !ok {
		return "", errors.Join(err, m.Lag(int(n)))
	}
	gvk, err := s.kind(kind)
	if err != nil {
		return "", err
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	return "", m.Lag(int(n), obj)
}

// verbs are those of calls.
var verbs = []buildertest.Verb{
	buildertest.VerbGet, buildertest.VerbList, buildertest.VerbWatch, buildertest.VerbCreate, buildertest.VerbUpdate, buildertest.VerbPatch,
	buildertest.VerbApply, buildertest.VerbDelete, buildertest.VerbDeleteCollection,
}

// refuse is the command refuse: "refuse verb=create kind=Job name=demo times=2" makes the API server refuse a manager's calls, as an
// exceeded quota does; times=0 is all calls. After after=2 matching calls the faults begin. With lost, the call has its effect, and its
// reply is lost.
func refuse(_ context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "verb", "kind", "name", "subresource", "times", "after"); err != nil {
		return "", err
	}
	m, err := s.manager(l)
	if err != nil {
		return "", err
	}
	f := buildertest.Fault{Error: func(c buildertest.Call) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: c.Kind.Group, Resource: c.Kind.Kind}, c.Name, fmt.Errorf("exceeded quota"))
	}}
	verb, _, err := value(l, "verb")
	if err != nil {
		return "", err
	}
	if f.Verb = buildertest.Verb(verb); verb != "" && !slices.Contains(verbs, f.Verb) {
		return "", fmt.Errorf("refuse: verb is %q; accepted are %q", verb, verbs)
	}
	if kind, ok, err := value(l, "kind"); err != nil {
		return "", err
	} else if ok {
		gvk, err := s.kind(kind)
		if err != nil {
			return "", err
		}
		f.Kind = gvk.GroupKind()
	}
	if f.Name, _, err = value(l, "name"); err != nil {
		return "", err
	}
	times, err := number(l, "times", 1)
	if err != nil {
		return "", err
	}
	after, err := number(l, "after", 0)
	if err != nil {
		return "", err
	}
	if f.Subresource, _, err = value(l, "subresource"); err != nil {
		return "", err
	}
	f.Times, f.After = int(times), int(after)
	if has(l, "lost") {
		f.AfterWrite, f.Error = true, buildertest.Timeout
	}
	m.Client().Fail(f)
	return "", nil
}
