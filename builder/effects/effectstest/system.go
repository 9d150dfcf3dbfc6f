package effectstest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/effects"
)

// System is a simulated system outside of the cluster. Its things are ConfigMaps in buildertest.OutsideNamespace of the simulated API
// server, so that they belong to the states of a scenario. It is safe for concurrent use.
type System struct {
	mu    sync.Mutex
	calls []string
	fails int
}

// Things returns the payloads of the present things, by the key of their effect.
func Things(ctx context.Context, c client.Reader) (map[string]string, error) {
	var all corev1.ConfigMapList
	if err := c.List(ctx, &all, client.InNamespace(buildertest.OutsideNamespace)); err != nil {
		return nil, err
	}
	things := map[string]string{}
	for i := range all.Items {
		things[all.Items[i].Data["key"]] = all.Items[i].Data["state"]
	}
	return things, nil
}

// Set brings a thing to a state, as someone does who isn't the operator. An empty state removes it.
func Set(ctx context.Context, c client.Client, key, state string) error {
	thing := newThing(key, state)
	if state == "" {
		return client.IgnoreNotFound(c.Delete(ctx, thing))
	}
	err := c.Create(ctx, thing)
	if apierrors.IsAlreadyExists(err) {
		return c.Update(ctx, newThing(key, state))
	}
	return err
}

func newThing(key, state string) *corev1.ConfigMap {
	sum := sha256.Sum256([]byte(key))
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: buildertest.OutsideNamespace, Name: hex.EncodeToString(sum[:8])},
		Data:       map[string]string{"key": key, "state": state},
	}
}

// FailNext makes the next n calls of Do and Undo fail, without an effect.
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

func (p performer) Do(ctx context.Context, call effects.Call) (any, error) {
	if err := p.system.note("do", call); err != nil {
		return nil, err
	}
	return map[string]string{"address": "outside/" + call.Key}, Set(ctx, p.client, call.Key, string(call.Payload))
}

func (p performer) Undo(ctx context.Context, call effects.Call) error {
	if err := p.system.note("undo", call); err != nil {
		return err
	}
	return Set(ctx, p.client, call.Key, "")
}

func (p performer) Observe(ctx context.Context, call effects.Call) (bool, error) {
	thing := newThing(call.Key, "")
	err := p.client.Live().Get(ctx, client.ObjectKeyFromObject(thing), thing)
	return err == nil && thing.Data["state"] == string(call.Payload), client.IgnoreNotFound(err)
}

// note notes a call, and returns an error if it is to fail.
func (s *System) note(verb string, call effects.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, fmt.Sprintf("%s %s", verb, call.Key))
	if s.fails > 0 {
		s.fails--
		return errUnavailable
	}
	return nil
}
