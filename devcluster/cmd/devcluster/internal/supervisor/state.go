package supervisor

import (
	"os"
	"sync"
	"time"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
)

// state is what `status` reads: written to the directory at every change.
type state struct {
	dir clusterdir.Dir

	mu  sync.Mutex
	run clusterdir.RunState
}

func newState(dir clusterdir.Dir, version string) *state {
	s := &state{dir: dir}
	s.run = clusterdir.RunState{PID: os.Getpid(), Phase: clusterdir.Starting, Since: time.Now(), Version: version}
	s.change(func(*clusterdir.RunState) {})
	return s
}

func (s *state) change(f func(*clusterdir.RunState)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.run)
	// A state that can't be written makes `status` wrong; it is no reason to stop the cluster.
	_ = s.dir.SaveRun(&s.run)
}

func (s *state) changeComponent(name string, f func(*clusterdir.ComponentState)) {
	s.change(func(r *clusterdir.RunState) {
		for i := range r.Components {
			if r.Components[i].Name == name {
				f(&r.Components[i])
				return
			}
		}
		c := clusterdir.ComponentState{Name: name, Log: s.dir.Log(name)}
		f(&c)
		r.Components = append(r.Components, c)
	})
}

func (s *state) started(sp spec, pid int, again bool) {
	s.changeComponent(sp.name, func(c *clusterdir.ComponentState) {
		c.PID, c.State, c.Endpoint = pid, "Running", sp.endpoint
		if again {
			c.Restarts++
		}
	})
}

func (s *state) failed(name, how string) {
	s.changeComponent(name, func(c *clusterdir.ComponentState) { c.PID, c.State = 0, "Failed: "+how })
}

func (s *state) stopped(name string) {
	s.changeComponent(name, func(c *clusterdir.ComponentState) { c.PID, c.State = 0, "Stopped" })
}

func (s *state) phase(p clusterdir.Phase) {
	s.change(func(r *clusterdir.RunState) { r.Phase = p })
}

func (s *state) isReady() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run.Phase == clusterdir.Ready
}

func (s *state) reset() {
	s.change(func(r *clusterdir.RunState) { r.Phase, r.Components = clusterdir.Starting, nil })
}
