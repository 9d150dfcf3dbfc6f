package supervisor

import (
	"fmt"
	"strings"
	"time"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

const (
	tailLines = 15
	// A component that ran this long is well again: its next failure is a first one.
	wellAfter = 30 * time.Second
	// maxRestarts in a row without ever being well, and the cluster gives up.
	maxRestarts = 10
	firstDelay  = 200 * time.Millisecond
	maxDelay    = 10 * time.Second
)

// componentError is the end of a component that nobody asked for.
type componentError struct {
	name, how, log, tail string
}

func (e *componentError) Error() string {
	return fmt.Sprintf("%s: %s; the end of %s:\n  %s", e.name, e.how, e.log, strings.ReplaceAll(e.tail, "\n", "\n  "))
}

// portTaken tells whether the component lost the race for its port, between our picking and its binding.
func (e *componentError) portTaken() bool {
	return strings.Contains(e.tail, "address already in use")
}

// etcdWasSlow tells whether the API server gave etcd up, which it does after 20 seconds. A machine that has much else to do may need
// longer to start etcd.
func (e *componentError) etcdWasSlow() bool {
	return strings.Contains(e.tail, "etcd grpc connection not ready")
}

// keeper runs one component until it is stopped.
type keeper struct {
	spec spec
	stop chan struct{}
	// grace is how long it may take to stop. It is set before stop closes.
	grace time.Duration
	done  chan struct{}
}

// keep starts the component and keeps it running until stopAll. While the cluster is starting, the end of the
// component is a failure of the start, unless it only waited for etcd; afterwards it is started again, later each time.
func (s *Supervisor) keep(sp spec) error {
	p, err := s.launch(sp, false)
	if err != nil {
		return err
	}
	k := &keeper{spec: sp, stop: make(chan struct{}), done: make(chan struct{})}
	s.keepers[sp.name] = k
	go func() {
		defer close(k.done)
		if err := s.keepRunning(k, p); err != nil {
			s.fail(err)
		}
	}()
	return nil
}

// keepRunning returns nil when the component was stopped, else why it can't be kept running.
func (s *Supervisor) keepRunning(k *keeper, p *process) error {
	name := k.spec.name
	for failures := 0; ; {
		began := time.Now()
		select {
		case <-p.done:
			p.alive.Close()
		case <-k.stop:
			p.stop(k.grace)
			s.state.stopped(name)
			return nil
		}
		failure := &componentError{name, p.exited(), p.ownLog(), p.tail(tailLines)}
		s.state.failed(name, failure.how)
		if !s.state.isReady() && !failure.etcdWasSlow() {
			return failure
		}
		if time.Since(began) > wellAfter {
			failures = 0
		}
		var err error
		if p, err = s.restart(k, failure, &failures); p == nil {
			return err
		}
	}
}

// restart runs the component again after a while, longer after each failure. It returns neither process nor
// error when the component is to stop, and an error when it has failed too often.
func (s *Supervisor) restart(k *keeper, failure error, failures *int) (*process, error) {
	for {
		if *failures == maxRestarts {
			return nil, fmt.Errorf("given up after %d restarts: %w", maxRestarts, failure)
		}
		delay := min(firstDelay<<*failures, maxDelay)
		*failures++
		fmt.Fprintf(s.out, "%s; starting it again in %s\n", firstLine(failure), delay)
		select {
		case <-time.After(delay):
		case <-k.stop:
			return nil, nil
		}
		p, err := s.launch(k.spec, true)
		if err == nil {
			return p, nil
		}
		failure = err
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimSuffix(line, ":")
}

// launch runs the component once.
func (s *Supervisor) launch(sp spec, again bool) (*process, error) {
	if sp.before != nil {
		if err := sp.before(); err != nil {
			return nil, fmt.Errorf("%s: %w", sp.name, err)
		}
	}
	p, err := startProcess(sp, s.dir.Log(sp.name), s.lock)
	if err != nil {
		return nil, err
	}
	s.state.started(sp, p.cmd.Process.Pid, again)
	return p, nil
}

// stopOrder names all components, those first that need the others.
func (s *Supervisor) stopOrder() [][]string {
	nodes := []string{component.LocalNodes, component.FakeNodes}
	if s.settings.Containers {
		nodes = append(nodes, component.CoreDNS)
		for _, node := range s.settings.Nodes {
			nodes = append(nodes, component.NodeComponent(node))
		}
	}
	return [][]string{
		nodes,
		{component.Scheduler, component.ControllerManager},
		{component.APIServer},
		{component.Etcd},
	}
}

// stopAll stops all components. Of a cluster that never was ready none has much to finish, and it may wait for one that failed. In a
// temporary cluster only nodes have something to finish: they end what their pods run.
func (s *Supervisor) stopAll() {
	s.state.phase(clusterdir.Stopping)
	grace := stopTimeout
	if !s.wasReady {
		grace = time.Second
	}
	for _, group := range s.stopOrder() {
		var stopped []*keeper
		for _, name := range group {
			if k := s.keepers[name]; k != nil {
				k.grace = grace
				close(k.stop)
				stopped = append(stopped, k)
			}
		}
		for _, k := range stopped {
			<-k.done
		}
		if s.Temporary {
			grace = 0
		}
	}
}
