package story

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
)

// then begins the lines of a scenario that happen later.
const then = "then"

// Scenario returns the scenario that a file describes, for [buildertest.Explore]. Its lines prepare the cluster, one after the other; those
// that begin with the word then are the steps of Scenario.Then:
//
//	node n1
//	----
//
//	pod demo-* run=0s
//	----
//
//	apply
//	(a JobFlow)
//	----
//
//	then edit JobFlow/demo
//	spec: {suspend: true}
//	----
//
// Each operator is a process of its own, and the first one is the scenario's. The test fails if a line fails. The caller sets invariants
// and the like. A counterexample of the scenario is a story with its output: save it as a file, and Run runs it.
func Scenario(t *testing.T, path string, c Config) buildertest.Scenario {
	t.Helper()
	b, err := newBeginning(c)
	if err != nil {
		t.Fatal(err)
	}
	datadriven.RunTest(t, path, b.line)
	if err := b.describe(); err != nil {
		t.Fatal(err)
	}
	return b.scenario
}

// beginning is the part of a scenario that has been read.
type beginning struct {
	*Story
	scenario buildertest.Scenario
	later    []Line
}

func newBeginning(c Config) (*beginning, error) {
	s, err := New(c)
	return &beginning{Story: s}, err
}

// line reads a line: it runs it, or keeps it for later.
func (b *beginning) line(t *testing.T, d *datadriven.TestData) string {
	line := lineOf(d)
	if line.Command == then {
		line = without(t, d, line)
		if err := b.check(line); err != nil {
			d.Fatalf(t, "%v", err)
		}
		b.later = append(b.later, line)
		b.scenario.ThenLines = append(b.scenario.ThenLines, textOf(line.Command, d.CmdArgs[1:], d.Input))
		return d.Expected
	}
	if err := b.do(t.Context(), line); err != nil {
		d.Fatalf(t, "%v", err)
	}
	b.scenario.Setup += textOf(d.Cmd, d.CmdArgs, d.Input)
	return d.Expected
}

// without returns a line without its first word: "edit Job/demo" for "then edit Job/demo".
func without(t *testing.T, d *datadriven.TestData, l Line) Line {
	if len(l.Words) == 0 || len(d.CmdArgs) == 0 || d.CmdArgs[0].Key != l.Words[0] {
		d.Fatalf(t, "%s: the command is missing, such as: %s edit Kind/name", l.Command, l.Command)
	}
	l.Command, l.Words = l.Words[0], l.Words[1:]
	return l
}

// do runs a line whose output doesn't matter.
func (s *Story) do(ctx context.Context, l Line) error {
	text, err := s.Do(ctx, l)
	if err == nil && strings.HasPrefix(text, "error: ") {
		err = errors.New(text)
	}
	return err
}

// textOf returns a line as it stands in a file.
func textOf(command string, args []datadriven.CmdArg, input string) string {
	var b strings.Builder
	b.WriteString(command)
	for _, arg := range args {
		b.WriteString(" " + arg.String())
	}
	b.WriteString("\n")
	if input != "" {
		b.WriteString(strings.TrimSuffix(input, "\n") + "\n")
	}
	return b.String() + endOfLine
}

// describe completes the scenario of the present cluster.
func (b *beginning) describe() error {
	s, scenario := b.Story, &b.scenario
	scenario.Scheme, scenario.Options, scenario.Invariants = s.config.Scheme, s.config.Options, s.config.Invariants
	scenario.Objects, scenario.RunStory = s.world.Server().Objects(), s.config.run
	around := s.world
	scenario.Cluster = func(server *buildertest.Server) buildertest.Cluster { return around.Around(server) }
	for i, o := range slices.Concat(s.config.Operators, s.config.Others) {
		requests, err := s.requestsOf(o.Owner, scenario.Objects)
		if err != nil {
			return err
		}
		p := buildertest.Process{Name: fmt.Sprint("operator ", i+1), Owner: o.Owner, Reconciler: o.Reconciler, Requests: requests}
		if i > 0 {
			scenario.Others = append(scenario.Others, p)
			continue
		}
		scenario.Owner, scenario.Reconciler, scenario.Requests = p.Owner, p.Reconciler, p.Requests
	}
	for _, line := range b.later {
		scenario.Then = append(scenario.Then, func(ctx context.Context, c client.Client) error {
			with := *s
			with.user = c.(*buildertest.Client)
			with.world = around.Around(with.user.Server())
			return with.do(ctx, line)
		})
	}
	return nil
}

// requestsOf returns the requests of all objects of a kind.
func (s *Story) requestsOf(owner client.Object, objects []client.Object) ([]reconcile.Request, error) {
	gvk, err := apiutil.GVKForObject(owner, s.config.Scheme)
	if err != nil {
		return nil, err
	}
	var requests []reconcile.Request
	for _, obj := range objects {
		found, err := apiutil.GVKForObject(obj, s.config.Scheme)
		if err != nil {
			return nil, err
		}
		if found == gvk {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)})
		}
	}
	return requests, nil
}

// endOfLine ends a line in a text of textOf.
const endOfLine = "----\n\n"

// run runs a story of lines of textOf, and returns it with their output. It ends at a panic, which is the output of its line.
func (c Config) run(ctx context.Context, story string) (string, error) {
	s, err := New(c)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for text := range strings.SplitSeq(strings.TrimSuffix(story, endOfLine), endOfLine) {
		first, input, _ := strings.Cut(text, "\n")
		d := datadriven.TestData{Input: strings.TrimSuffix(input, "\n")}
		if d.Cmd, d.CmdArgs, err = datadriven.ParseLine(first); err != nil {
			return "", err
		}
		output, panicked, err := s.try(ctx, lineOf(&d))
		if err != nil {
			return "", fmt.Errorf("%s: %w", first, err)
		}
		b.WriteString(text + strings.TrimSuffix(endOfLine, "\n"))
		if output != "" {
			b.WriteString(strings.TrimSuffix(output, "\n") + "\n")
		}
		b.WriteString("\n")
		if panicked {
			break
		}
	}
	return b.String(), nil
}

// try runs a line, and reports whether it panicked.
func (s *Story) try(ctx context.Context, l Line) (output string, panicked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			output, panicked = fmt.Sprintf("panic: %v", p), true
		}
	}()
	output, err = s.Do(ctx, l)
	return output, false, err
}
