package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client uses a store from outside: it finds the gateways, and asks another one if one doesn't answer.
type Client struct {
	// Patience is how long a call tries, while gateways and storage nodes come and go. Default: 10 seconds.
	Patience time.Duration

	peers *peers

	mu       sync.Mutex
	gateways []Member
	lookedAt time.Time
	next     int
}

// NewClient returns a client of a store.
func NewClient(c client.Client, namespace, cluster string) *Client {
	return &Client{Patience: 2 * patience, peers: &peers{client: c, namespace: namespace, cluster: cluster}}
}

// Put writes a value.
func (c *Client) Put(ctx context.Context, key, data string) error {
	return c.try(ctx, func(m Member) error {
		return call(ctx, http.MethodPut, m, "/kv/"+url.PathEscape(key), []byte(data), nil)
	})
}

// Get reads a value. It reports false if the key has none.
func (c *Client) Get(ctx context.Context, key string) (data string, found bool, err error) {
	err = c.try(ctx, func(m Member) error {
		var err error
		data, err = text(ctx, m, "/kv/"+url.PathEscape(key))
		return err
	})
	if errors.Is(err, errNotFound) {
		return "", false, nil
	}
	return data, err == nil, err
}

// Config asks all nodes of a type for a property, and returns what they say.
func (c *Client) Config(ctx context.Context, kind, name string) ([]string, error) {
	members, err := c.peers.of(ctx, kind)
	var values []string
	for _, m := range members {
		value, askErr := text(ctx, m, "/config/"+name)
		values, err = append(values, value), errors.Join(err, askErr)
	}
	return values, err
}

// try asks gateways until one answers.
func (c *Client) try(ctx context.Context, do func(Member) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	err := errors.New("there is no gateway")
	for {
		for range 3 {
			m, ok := c.gateway(ctx)
			if !ok {
				break
			}
			if err = do(m); err == nil || errors.Is(err, errNotFound) {
				return err
			}
		}
		if !pause(ctx, lookEvery/2) {
			return err
		}
	}
}

// gateway returns the next one, of those that there were a moment ago.
func (c *Client) gateway(ctx context.Context) (Member, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.lookedAt) > lookEvery {
		if found, err := c.peers.of(ctx, Gateway); err == nil {
			c.gateways, c.lookedAt = found, time.Now()
		}
	}
	if len(c.gateways) == 0 {
		return Member{}, false
	}
	c.next++
	return c.gateways[c.next%len(c.gateways)], true
}

// text gets a text from a node.
func text(ctx context.Context, m Member, path string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, urlOf(m, path), nil)
	if err != nil {
		return "", err
	}
	response, err := peerClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return "", errNotFound
	}
	body, err := readAll(response)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s%s: %s", m.Name, path, response.Status)
	}
	return body, err
}
