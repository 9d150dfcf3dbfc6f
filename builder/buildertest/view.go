package buildertest

import (
	"context"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// view is how far a client's reads are behind, as those from a cache are.
type view struct {
	lag       uint64
	lags      map[schema.GroupVersionKind]uint64
	limit     uint64 // nothing newer is seen
	least     uint64 // everything older is
	wrote     map[schema.GroupVersionKind]uint64
	ownWrites bool
}

// newView is up to date: a cache begins with what there is.
func newView(now uint64) view {
	return view{least: now, limit: math.MaxUint64, lags: map[schema.GroupVersionKind]uint64{}, wrote: map[schema.GroupVersionKind]uint64{}}
}

// Lag lets reads be n changes of the server behind, whoever made them; of the kinds given (empty objects) only, if any
// are. 0 is none. Writes are judged by the server, which is never behind.
func (c *Client) Lag(n int, kinds ...client.Object) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if len(kinds) == 0 {
		c.view.lag = uint64(max(n, 0))
	}
	return c.server.kinds.each(kinds, func(gvk schema.GroupVersionKind) { c.view.lags[gvk] = uint64(max(n, 0)) })
}

// Freeze lets reads see the state as it is now, until Refresh.
func (c *Client) Freeze() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.view.limit = c.server.version
}

// Refresh brings reads up to date, once: a lag then grows anew with the changes that follow, and what was frozen stands
// still at now.
func (c *Client) Refresh() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.view.least = c.server.version
	if c.view.limit != math.MaxUint64 {
		c.view.limit = c.server.version
	}
}

// ReadYourWrites lets reads of a kind be at least as new as this client's last write of the kind, as a manager's client
// does with client.CacheOptions.EnableReadYourWritesConsistency. Default: off.
func (c *Client) ReadYourWrites(on bool) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.view.ownWrites = on
}

// Live returns a reader that is never behind: what manager.GetAPIReader returns. Its calls are this client's, and fail
// like them once it has crashed.
func (c *Client) Live() client.Reader { return live{c} }

type live struct{ client *Client }

func (l live) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return l.client.Get(ctx, key, obj, append(opts, uncached{})...)
}

func (l live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return l.client.List(ctx, list, append(opts, uncached{})...)
}

// uncached is an option of reads that asks the server.
type uncached struct{}

func (uncached) ApplyToGet(*client.GetOptions)   {}
func (uncached) ApplyToList(*client.ListOptions) {}

// asks reports whether a read is to be answered by the server and not by the view.
func asks[T any](opts []T) bool {
	return slices.ContainsFunc(opts, func(o T) bool { _, ok := any(o).(uncached); return ok })
}

// horizon is the resource version that reads of a kind see.
func (c *Client) horizon(k kind, live bool) uint64 {
	if live {
		return c.server.version
	}
	v := &c.view
	lag, ok := v.lags[k.gvk]
	if !ok {
		lag = v.lag
	}
	seen := c.server.version - min(lag, c.server.version)
	seen = min(max(seen, v.least), v.limit)
	if v.ownWrites {
		seen = max(seen, v.wrote[k.gvk])
	}
	return seen
}

// wrote remembers that the client has made a write.
func (c *Client) wrote(r *request) { c.view.wrote[r.kind.gvk] = c.server.version }
