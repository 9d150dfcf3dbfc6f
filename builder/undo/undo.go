package undo

import (
	"fmt"
	"os"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/build"
	"github.com/armature-dev/armature/builder/internal/former"
)

// Options configure the former states.
type Options struct {
	// Build identifies the program's build. Changes of different builds are undone one by one. Default: a digest of the executable and of
	// its arguments.
	Build string
}

// Around returns a manager whose operators keep the state of children before they disrupt them: pass it to builder.NewOperator. It
// returns an error if it can't read the executable.
func Around(mgr manager.Manager, o Options) (manager.Manager, error) {
	s := former.Settings{Build: o.Build}
	if s.Build == "" {
		var err error
		if s.Build, err = build.Digest(os.Args[1:]); err != nil {
			return nil, fmt.Errorf("identify the program's build: %w", err)
		}
	}
	return keeping{mgr, s}, nil
}

// keeping is a manager whose operators keep former states.
type keeping struct {
	manager.Manager
	settings former.Settings
}

// Former returns the settings of the former states, for an operator.
func (k keeping) Former() *former.Settings { return &k.settings }

// Unwrap returns the manager that keeps former states.
func (k keeping) Unwrap() manager.Manager { return k.Manager }
