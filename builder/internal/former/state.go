package former

import (
	"encoding/json"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/store"
)

// Child is the former state of one child.
type Child struct {
	revision.Child
	// Recreate is the propagation with which the child may be deleted and created again; empty if it may not.
	Recreate metav1.DeletionPropagation
}

// Cause identifies what changes the children. Changes of one cause are undone together.
type Cause struct {
	// Generation is that of the owner, and Build the digest of the program's build.
	Generation int64  `json:"generation"`
	Build      string `json:"build"`
}

// State is the former state of the children that one cause has changed.
type State struct {
	Cause
	// Previous is the name of the ControllerRevision that this one replaces; empty for none.
	Previous string
	// PruneAll is true if the plan pruned all kinds, so that the inventory must have the kinds of what is restored.
	PruneAll bool
	Children []Child
	// Omitted is true if the state was too large to be kept.
	Omitted bool
}

// header is what a State has beside the children. It is one of the lines in the hash of a revision.
type header struct {
	Cause
	Previous string                                `json:"previous,omitempty"`
	PruneAll bool                                  `json:"pruneAll,omitempty"`
	Recreate map[string]metav1.DeletionPropagation `json:"recreate,omitempty"`
}

// phase is that of all children of a revision, which needs one.
const phase = ""

// IsKept reports whether the state of a child can be kept: Jobs and Pods would run again, and ControllerRevisions are records of the
// builder, such as the journals of external effects.
func IsKept(kind schema.GroupKind) bool {
	return kind != schema.GroupKind{Group: "batch", Kind: "Job"} && kind != schema.GroupKind{Kind: "Pod"} &&
		kind != schema.GroupKind{Group: "apps", Kind: "ControllerRevision"}
}

// Has reports whether the state has a child.
func (s *State) Has(key store.Key) bool {
	for i := range s.Children {
		if s.Children[i].Key() == key {
			return true
		}
	}
	return false
}

// With returns the state with more children. Those that it has already stay, because their former state is the older one.
func (s State) With(children []Child) State {
	s.Children = append([]Child(nil), s.Children...)
	for _, c := range children {
		if !s.Has(c.Key()) {
			s.Children = append(s.Children, c)
		}
	}
	return s
}

// Identity identifies owner and controller in the hash of a state.
func Identity(controller string, owner types.UID) string {
	return "undo " + controller + " " + string(owner)
}

// Render returns the name and the data of the ControllerRevision of a state.
func (s State) Render(identity, owner string) (name string, data []byte, err error) {
	h := header{Cause: s.Cause, Previous: s.Previous, PruneAll: s.PruneAll}
	children, lines := make([]revision.Child, len(s.Children)), make([]string, 0, len(s.Children)+1)
	for i, c := range s.Children {
		children[i] = c.Child
		children[i].Phase = phase
		lines = append(lines, children[i].Line())
		if c.Recreate == "" {
			continue
		}
		if h.Recreate == nil {
			h.Recreate = map[string]metav1.DeletionPropagation{}
		}
		h.Recreate[c.Key().String()] = c.Recreate
	}
	line, err := json.Marshal(h)
	if err != nil {
		return "", nil, err
	}
	lines = append(lines, string(line))
	data, err = revision.NewSnapshot([]string{phase}, children, []string{string(line)}).Render()
	return revision.Name(owner, revision.Hash(identity, lines)), data, err
}

// Read returns the state of a ControllerRevision. It returns an error if the data aren't those that its name stands for: anyone who can
// create ControllerRevisions may have written them.
func Read(object *appsv1.ControllerRevision, identity string) (State, error) {
	rev := revision.Revision{Object: object}
	snapshot, reason := rev.Restorable(identity)
	if reason != "" {
		read, err := revision.ReadSnapshot(object.Data.Raw)
		if err != nil || !read.Omitted {
			return State{}, fmt.Errorf("the data of ControllerRevision %s don't fit the hash in its name", object.Name)
		}
		snapshot = read
	}
	if len(snapshot.Runs) != 1 {
		return State{}, fmt.Errorf("ControllerRevision %s has no header", object.Name)
	}
	var h header
	if err := json.Unmarshal([]byte(snapshot.Runs[0]), &h); err != nil {
		return State{}, errors.Join(fmt.Errorf("the header of ControllerRevision %s can't be read", object.Name), err)
	}
	s := State{Cause: h.Cause, Previous: h.Previous, PruneAll: h.PruneAll, Omitted: snapshot.Omitted}
	for i := range snapshot.Children {
		c := snapshot.Children[i]
		s.Children = append(s.Children, Child{Child: c, Recreate: h.Recreate[c.Key().String()]})
	}
	return s, nil
}
