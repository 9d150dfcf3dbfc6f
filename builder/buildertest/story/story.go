package story

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// Namespace is the namespace of objects without one. The output of commands omits it.
const Namespace = "default"

// Manager is the name of the first manager.
const Manager = "manager"

// user is the name of the client that applies, edits and deletes.
const user = "user"

// Config describes the clusters of stories.
type Config struct {
	// Operators run in each manager. Required.
	Operators []world.Operator
	// Others are operators of a further manager, "others". In [CrashEverywhere] it never crashes during a pass. Default: none.
	Others []world.Operator
	// Scheme has the kinds. Default: client-go's.
	Scheme *runtime.Scheme
	// Options are the options of each server, such as [buildertest.WithCRDs]. Default: nil, none.
	Options []buildertest.Option
	// Templates are objects in YAML, by name. A story creates or changes one with its name as the command and, below, what differs in the
	// spec:
	//
	//	daemonjob name=demo
	//	parallelism: 2
	//
	// Default: nil, none.
	Templates map[string]string
	// Commands are further commands, by name. A name of a built-in command replaces it. Each may have a text below it: one that takes none
	// returns an error for it. Default: nil, none.
	Commands map[string]Command
	// Invariants are checked by [CrashEverywhere] before the steps of the cluster, and by Explore in each state of a [Scenario]. Default:
	// nil, none.
	Invariants []buildertest.Invariant
}

// Command does what a line of a story says, and returns what the story shows below it. An error is shown too, as "error: ...".
type Command func(ctx context.Context, s *Story, l Line) (string, error)

// Line is a line of a story: a command with its arguments, and the text below it.
type Line struct {
	Command string
	// Words are the arguments without a value, such as pod names.
	Words []string
	// Options are the arguments with values: key=value, or key=(value, value).
	Options map[string][]string
	// Input is the text below the line, such as YAML.
	Input string
}

// Story is a cluster and the command lines that run in it.
type Story struct {
	config   Config
	commands map[string]Command
	world    *world.World
	user     *buildertest.Client
}

// New returns a story with an empty cluster and one manager.
func New(c Config) (*Story, error) {
	if c.Scheme == nil {
		c.Scheme = scheme.Scheme
	}
	s := &Story{config: c, commands: maps.Clone(commands)}
	for name, text := range c.Templates {
		s.commands[name] = fromTemplate(text)
	}
	maps.Copy(s.commands, c.Commands)
	return s, s.reset(world.Options{})
}

// reset begins with a new cluster.
func (s *Story) reset(o world.Options) error {
	server := buildertest.NewServer(s.config.Scheme, s.config.Options...)
	s.world = world.New(server, o)
	s.user = server.Client(user)
	if _, err := s.world.AddManager(Manager, s.config.Operators...); err != nil {
		return err
	}
	return s.addOthers()
}

// addOthers starts the manager of the other operators, if there are any.
func (s *Story) addOthers() error {
	if len(s.config.Others) == 0 {
		return nil
	}
	_, err := s.world.AddManager("others", s.config.Others...)
	return err
}

// World returns the story's present cluster. The command cluster replaces it.
func (s *Story) World() *world.World { return s.world }

// Client returns the client of the user, with which stories apply, edit and delete.
func (s *Story) Client() client.Client { return s.user }

// Do runs a line and returns its output. An unknown command is an error of the story, as is text below a command that takes none; what a
// known command returns as an error is output.
func (s *Story) Do(ctx context.Context, l Line) (string, error) {
	if err := s.check(l); err != nil {
		return "", err
	}
	text, err := s.commands[l.Command](ctx, s, l)
	if err != nil {
		if text != "" {
			text += "\n"
		}
		text += "error: " + err.Error()
	}
	return text, nil
}

// check returns an error of the story: a command that doesn't exist, or text below a command that takes none. Without the ---- of a line,
// the lines that follow are its text, and would not run.
func (s *Story) check(l Line) error {
	if _, ok := s.commands[l.Command]; !ok {
		return fmt.Errorf("unknown command %q; known are %s", l.Command, strings.Join(slices.Sorted(maps.Keys(s.commands)), ", "))
	}
	_, isTemplate := s.config.Templates[l.Command]
	_, isFurther := s.config.Commands[l.Command]
	if isTemplate || isFurther || slices.Contains(withText, l.Command) {
		return nil
	}
	return noText(l)
}

// noText returns an error if a line has text below it.
func noText(l Line) error {
	if l.Input == "" {
		return nil
	}
	first, _, _ := strings.Cut(l.Input, "\n")
	return fmt.Errorf("%s takes no text below it, and has %q; is ---- missing?", l.Command, first)
}

// withText are the built-in commands that take a text.
var withText = []string{"apply", "edit", "edit-status"}

// commands are the built-in commands.
var commands = map[string]Command{
	"cluster": newCluster,

	"node": addNodes, "cordon": cordon, "uncordon": cordon, "break-node": breakNode, "repair-node": breakNode,

	"apply": apply, "edit": edit, "edit-status": edit, "delete": remove, "replace": replace,

	"pod": script,

	"settle": settle, "wait": wait, "idle": idle, "clock": clock, "steps": steps, "step": step,

	"manager": addManager, "crash": crash, "stop": stop, "start": start, "lag": lag, "refuse": refuse,

	"status": status, "show": show, "list": list, "writes": writes, "events": events,
}

// newCluster is the command cluster: it begins again, with a cluster that has nothing but some nodes.
func newCluster(ctx context.Context, s *Story, l Line) (string, error) {
	if err := only(l, -1, "seed"); err != nil {
		return "", err
	}
	seed, err := number(l, "seed", 0)
	if err != nil {
		return "", err
	}
	if err := s.reset(world.Options{Seed: uint64(seed)}); err != nil {
		return "", err
	}
	return addNodes(ctx, s, Line{Command: l.Command, Words: l.Words})
}
