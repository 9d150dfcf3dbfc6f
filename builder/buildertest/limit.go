package buildertest

// LimitRequests makes the reconcilers that [NewReconciler] returns for this client send at most n requests at the same time. With 1 the
// order of the requests, and so the names, the UIDs and the place of a crash, are the same in each run. Default: 0, the builder's limit.
func (c *Client) LimitRequests(n int) {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.atOnce = n
}

// RequestLimit returns the limit of LimitRequests.
func (c *Client) RequestLimit() int {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.atOnce
}
