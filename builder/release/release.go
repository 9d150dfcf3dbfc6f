package release

import (
	"cmp"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/build"
	"github.com/armature-dev/armature/builder/internal/turns"
)

// Options configure the roll-out of new builds.
type Options struct {
	// MaxOwners is the number of owners of one operator that may be in their turn at once: a number such as "1", a percentage such as
	// "10%" of the operator's owners when the program starts (rounded up), or "unlimited" or "0" for no limit and no record.
	// Default: "1".
	MaxOwners string
	// ReadyWithin is the time after which an owner that isn't ready halts the roll-out. Default: 10 minutes.
	ReadyWithin time.Duration
	// Namespace is the namespace of the ConfigMaps with the records, such as the manager's own. It is required. The program needs the
	// permission to get, create and update ConfigMaps there.
	Namespace string
	// Name is the beginning of the ConfigMaps' names; the operator's name follows. Programs with different owners in one namespace need
	// different names. Default: "rollout".
	Name string
	// Build identifies the program's build; it must differ between builds that may plan differently. Default: a digest of the executable
	// and of its arguments.
	Build string
}

// Around returns a manager whose operators change existing owners in turns: pass it to builder.NewOperator. If MaxOwners is unlimited,
// it returns mgr. It returns an error for invalid options, and if it can't read the executable.
func Around(mgr manager.Manager, o Options) (manager.Manager, error) {
	limit, err := turns.ParseLimit(cmp.Or(o.MaxOwners, "1"))
	if err != nil {
		return nil, err
	}
	if limit.IsUnlimited() {
		return mgr, nil
	}
	s := turns.Settings{
		Limit: limit, ReadyWithin: cmp.Or(o.ReadyWithin, 10*time.Minute), Namespace: o.Namespace, Prefix: cmp.Or(o.Name, "rollout"),
		Build: o.Build,
	}
	if problems := validation.IsDNS1123Label(o.Namespace); len(problems) > 0 {
		return nil, fmt.Errorf("the namespace of the roll-outs' records is %q: %s", o.Namespace, problems[0])
	}
	if s.ReadyWithin < 0 {
		return nil, fmt.Errorf("the time in which an owner must become ready is %s; it must not be negative", s.ReadyWithin)
	}
	if s.Build == "" {
		if s.Build, err = build.Digest(os.Args[1:]); err != nil {
			return nil, fmt.Errorf("identify the program's build: %w", err)
		}
	}
	return releasing{mgr, s}, nil
}

// Build returns a digest of the executable and of arguments, for Options.Build: leave out those that can't change a plan, such as the level
// of a log, so that a change of them doesn't begin a roll-out. It returns an error if it can't read the executable.
func Build(args ...string) (string, error) { return build.Digest(args) }

// Check returns an error if MaxOwners can't have this value.
func Check(maxOwners string) error {
	_, err := turns.ParseLimit(cmp.Or(maxOwners, "1"))
	return err
}

// IsUnlimited reports whether a value of MaxOwners means no limit.
func IsUnlimited(maxOwners string) bool {
	limit, err := turns.ParseLimit(maxOwners)
	return err == nil && limit.IsUnlimited()
}

// releasing is a manager whose operators change existing owners in turns.
type releasing struct {
	manager.Manager
	settings turns.Settings
}

// Turns returns the settings of the turns, for an operator.
func (r releasing) Turns() *turns.Settings { return &r.settings }

// Unwrap returns the manager that has the turns.
func (r releasing) Unwrap() manager.Manager { return r.Manager }
