package effectstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/effects"
)

// System is a simulated system outside of the cluster. It has things by the key of their effect, each in the state of a payload. It is
// safe for concurrent use.
type System struct {
	mu     sync.Mutex
	things map[string]string
	calls  []string
	fails  int
}

// NewSystem returns an empty system.
func NewSystem() *System { return &System{things: map[string]string{}} }

// ForRuns returns a function that returns the System of the present run of a scenario: a new one for each server.
func ForRuns() func(c *buildertest.Client) *System {
	var server *buildertest.Server
	var system *System
	return func(c *buildertest.Client) *System {
		if c.Server() != server {
			server, system = c.Server(), NewSystem()
		}
		return system
	}
}

// Things returns the payloads of the present things, by key.
func (s *System) Things() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.things)
}

// Set changes a thing, as someone does who isn't the operator. An empty state removes it.
func (s *System) Set(key, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if state == "" {
		delete(s.things, key)
		return
	}
	s.things[key] = state
}

// FailNext makes the next n calls fail, without an effect.
func (s *System) FailNext(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = n
}

// Calls returns the calls so far, such as "do database/orders" and "undo database/orders", with failed ones.
func (s *System) Calls() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// Through returns a performer of the system in the process of a client. The result of Do has the address of the thing.
func (s *System) Through(c *buildertest.Client) effects.Observer { return performer{s, c} }

type performer struct {
	system *System
	client *buildertest.Client
}

var errUnavailable = errors.New("the system is unavailable")

func (p performer) Do(_ context.Context, call effects.Call) (any, error) {
	err := p.call("do", call, func() { p.system.things[call.Key] = string(call.Payload) })
	return map[string]string{"address": "outside/" + call.Key}, err
}

func (p performer) Undo(_ context.Context, call effects.Call) error {
	return p.call("undo", call, func() { delete(p.system.things, call.Key) })
}

func (p performer) Observe(_ context.Context, call effects.Call) (bool, error) {
	if p.client.Crashed() {
		return false, buildertest.ErrCrashed
	}
	return p.system.Things()[call.Key] == string(call.Payload), nil
}

// call makes a call, unless it is to fail.
func (p performer) call(verb string, call effects.Call, change func()) error {
	what := fmt.Sprintf("%s %s", verb, call.Key)
	return p.client.Outside(what, func() error {
		s := p.system
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, what)
		if s.fails > 0 {
			s.fails--
			return errUnavailable
		}
		change()
		return nil
	})
}
