package store

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// lookEvery is how often nodes look who is there.
const lookEvery = 200 * time.Millisecond

// coordinator tells which storage nodes there are.
type coordinator struct {
	*node
	mu      sync.Mutex
	members []Member
}

func newCoordinator(n *node) *coordinator {
	c := &coordinator{node: n}
	n.mux.HandleFunc("GET /members", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(c.known())
	})
	// What a KVStoreScaling asks: how many requests a second a storage node has, on average.
	n.mux.HandleFunc("GET /load", func(w http.ResponseWriter, r *http.Request) {
		members := c.known()
		total := 0.0
		for _, m := range members {
			var load float64
			if err := ask(r.Context(), m, "/load", &load); err == nil {
				total += load
			}
		}
		fmt.Fprintf(w, "%.1f\n", total/float64(max(len(members), 1)))
	})
	return c
}

func (c *coordinator) known() []Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members == nil {
		return []Member{}
	}
	return c.members
}

func (c *coordinator) look(ctx context.Context) error {
	members, err := c.peers.of(ctx, Storage)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.members = members
	return nil
}

func (c *coordinator) start(ctx context.Context) error {
	for c.look(ctx) != nil {
		if !pause(ctx, lookEvery) {
			return ctx.Err()
		}
	}
	go func() {
		for pause(ctx, lookEvery) {
			_ = c.look(ctx) // what was known is better than nothing
		}
	}()
	return nil
}

func (c *coordinator) stop(context.Context) {}
