package clusterdir

import (
	"os"
	"time"
)

// Phase is how far the running cluster has come.
type Phase string

// The phases of a cluster, in their order.
const (
	Starting Phase = "Starting"
	Ready    Phase = "Ready"
	Stopping Phase = "Stopping"
)

// RunState tells what is running. It is only true while somebody holds the lock.
type RunState struct {
	PID        int              `json:"pid"`
	Phase      Phase            `json:"phase"`
	Since      time.Time        `json:"since"`
	Version    string           `json:"version"`
	Components []ComponentState `json:"components"`
}

// ComponentState is one process of the cluster.
type ComponentState struct {
	Name     string `json:"name"`
	PID      int    `json:"pid,omitempty"`
	State    string `json:"state"`
	Restarts int    `json:"restarts"`
	Endpoint string `json:"endpoint,omitempty"`
	Log      string `json:"log"`
}

// LoadRun reads the run state.
func (d Dir) LoadRun() (*RunState, error) {
	r := &RunState{}
	return r, readJSON(d.RunFile(), r)
}

// SaveRun writes the run state.
func (d Dir) SaveRun(r *RunState) error { return writeJSON(d.RunFile(), r) }

// ClearRun removes the run state, when nothing runs any more.
func (d Dir) ClearRun() { _ = os.Remove(d.RunFile()) }
