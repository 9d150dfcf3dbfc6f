package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// patience is how long a gateway tries, while storage nodes come and go.
const patience = 5 * time.Second

// gateway is what clients talk to.
type gateway struct {
	*node
	mu      sync.Mutex
	members []Member
}

func newGateway(n *node) *gateway {
	g := &gateway{node: n}
	n.mux.HandleFunc("PUT /kv/{key}", func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = g.put(r.Context(), r.PathValue("key"), data)
		}
		g.answer(w, err)
	})
	n.mux.HandleFunc("GET /kv/{key}", func(w http.ResponseWriter, r *http.Request) {
		v, err := g.get(r.Context(), r.PathValue("key"))
		g.answer(w, err)
		if err == nil {
			fmt.Fprint(w, v.Data)
		}
	})
	return g
}

func (g *gateway) answer(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
	case errors.Is(err, errNotFound):
		http.Error(w, "not found", http.StatusNotFound)
	default:
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	}
}

func (g *gateway) known() []Member {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.members
}

func (g *gateway) look(ctx context.Context) error {
	members, err := g.peers.storage(ctx)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members = members
	return nil
}

// start waits until there is a storage node.
func (g *gateway) start(ctx context.Context) error {
	for g.look(ctx) != nil || len(g.known()) == 0 {
		if !pause(ctx, lookEvery) {
			return ctx.Err()
		}
	}
	go func() {
		for pause(ctx, lookEvery) {
			_ = g.look(ctx) // what was known is better than nothing
		}
	}()
	return nil
}

// stop goes on answering until clients have seen that it isn't ready any more.
func (g *gateway) stop(ctx context.Context) { pause(ctx, 2*time.Second) }

// put writes a value to all nodes that are to have it. If one can't be reached, those that are to have it may be others
// in a moment.
func (g *gateway) put(ctx context.Context, key string, data []byte) error {
	path := "/kv/" + url.PathEscape(key) + "?version=" + strconv.FormatInt(time.Now().UnixNano(), 10)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		to := owners(g.known(), key, g.replicas())
		err := g.each(to, func(m Member) error { return call(ctx, http.MethodPut, m, path, data, nil) })
		if err == nil && len(to) > 0 {
			return nil
		}
		if !pause(ctx, lookEvery/2) {
			return fmt.Errorf("%d storage nodes are to have the key: %w", len(to), err)
		}
	}
}

// each calls several nodes at a time.
func (g *gateway) each(members []Member, do func(Member) error) error {
	errs := make([]error, len(members))
	var group sync.WaitGroup
	for i, m := range members {
		group.Go(func() { errs[i] = do(m) })
	}
	group.Wait()
	return errors.Join(errs...)
}

// get returns the newest value of a key that the nodes have which are to have it, or else another node.
func (g *gateway) get(ctx context.Context, key string) (newest value, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	path := "/kv/" + url.PathEscape(key)
	for {
		members := ordered(g.known(), key)
		first := min(g.replicas(), len(members))
		missing := 0
		for i, m := range members {
			if i >= first && newest.Version > 0 {
				break
			}
			var v value
			switch err := ask(ctx, m, path, &v); {
			case errors.Is(err, errNotFound):
				missing++
			case err == nil && v.Version > newest.Version:
				newest = v
			}
		}
		switch {
		case newest.Version > 0:
			return newest, nil
		case missing == len(members) && missing > 0:
			return newest, errNotFound
		case !pause(ctx, lookEvery/2):
			return newest, fmt.Errorf("none of %d storage nodes answers", len(members))
		}
	}
}
