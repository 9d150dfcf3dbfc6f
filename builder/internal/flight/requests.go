package flight

import (
	"context"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Request is one request to the API server.
type Request struct {
	Verb        string // create, apply, patch, delete, get, list
	Object      client.Object
	Subresource string // empty: none
	List        client.ObjectList
	DryRun      bool
	Err         error
}

// IsWrite reports whether the request could have changed something.
func (r Request) IsWrite() bool { return r.Verb != "get" && r.Verb != "list" && !r.DryRun }

// Requests collects the requests of one pass. It is part of the pass, and its own context, so that it costs no allocation.
type Requests struct {
	context.Context
	mu  sync.Mutex
	all []Request
}

type key struct{}

// In returns a context with which [Client] and [Reader] add their requests here.
func (r *Requests) In(ctx context.Context) context.Context {
	r.Context = ctx
	return r
}

// Value returns the collection itself to the clients.
func (r *Requests) Value(of any) any {
	if of == (key{}) {
		return r
	}
	return r.Context.Value(of)
}

// All returns the requests so far, in the order of their ends.
func (r *Requests) All() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// Wrote reports whether a request could have changed something.
func Wrote(all []Request) bool { return slices.ContainsFunc(all, Request.IsWrite) }

// note makes a request, and adds it to the pass of a context if there is one.
func note(ctx context.Context, r Request, do func() error) error {
	pass, ok := ctx.Value(key{}).(*Requests)
	if !ok {
		return do()
	}
	err := do()
	r.Err = err
	pass.mu.Lock()
	defer pass.mu.Unlock()
	pass.all = append(pass.all, r)
	return err
}
