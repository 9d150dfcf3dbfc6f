package buildertest

import (
	"context"
	"math"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// view is the state that a client reads, which may lag behind as a cache does.
type view struct {
	lag       uint64
	lags      map[schema.GroupVersionKind]uint64
	limit     uint64 // reads see nothing newer
	least     uint64 // reads see everything older
	wrote     map[schema.GroupVersionKind]uint64
	ownWrites bool
	at        map[schema.GroupVersionKind]uint64 // reads of these kinds see this version, apart from own writes; nil: none
}

// newView returns an up-to-date view, because a cache begins with the present state.
func newView(now uint64) view {
	return view{least: now, limit: math.MaxUint64, lags: map[schema.GroupVersionKind]uint64{}, wrote: map[schema.GroupVersionKind]uint64{}}
}

// Lag makes reads lag n changes of the server behind, by any client. With kinds (empty objects), only reads of these kinds lag; without,
// reads of all kinds, whatever was set for single kinds before. 0 is no lag. Writes don't lag, because the server checks them.
func (c *Client) Lag(n int, kinds ...client.Object) error {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	if len(kinds) == 0 {
		c.view.lag = uint64(max(n, 0))
		clear(c.view.lags)
	}
	return c.server.kinds.each(kinds, func(gvk schema.GroupVersionKind) { c.view.lags[gvk] = uint64(max(n, 0)) })
}

// Freeze makes reads return the present state until Refresh.
func (c *Client) Freeze() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.view.limit = c.server.version
}

// Refresh updates reads to the present state once. A lag then begins again with later changes; a frozen view stays at this state.
func (c *Client) Refresh() {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.view.least = c.server.version
	if c.view.limit != math.MaxUint64 {
		c.view.limit = c.server.version
	}
}

// ReadYourWrites makes reads of a kind at least as new as this client's last write of the kind, as in a manager's client with
// client.CacheOptions.EnableReadYourWritesConsistency. Default: false.
func (c *Client) ReadYourWrites(on bool) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.view.ownWrites = on
}

// Live returns a reader without a lag, as manager.GetAPIReader does. Its calls are this client's, and fail like them after a crash.
func (c *Client) Live() client.Reader { return live{c} }

type live struct{ client *Client }

func (l live) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return l.client.Get(ctx, key, obj, append(opts, uncached{})...)
}

func (l live) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return l.client.List(ctx, list, append(opts, uncached{})...)
}

// uncached is an option that makes a read bypass the view.
type uncached struct{}

func (uncached) ApplyToGet(*client.GetOptions)   {}
func (uncached) ApplyToList(*client.ListOptions) {}

// asks reports whether a read bypasses the view.
func asks[T any](opts []T) bool {
	return slices.ContainsFunc(opts, func(o T) bool { _, ok := any(o).(uncached); return ok })
}

// horizon returns the resource version that reads of a kind see.
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
	if at, ok := v.at[k.gvk]; ok {
		seen = at
	}
	if v.ownWrites {
		seen = max(seen, v.wrote[k.gvk])
	}
	return seen
}

// wrote records a write of the client.
func (c *Client) wrote(r *request) { c.view.wrote[r.kind.gvk] = c.server.version }
