package scaling

import "sync"

// turns bounds how many passes over objects of one namespace wait for endpoints at a time. Whoever may create such an object chooses
// how slow its endpoints are; the other workers are left to other namespaces.
type turns struct {
	most int

	mu    sync.Mutex
	taken map[string]int // by namespace; none is 0
}

func newTurns(workers int) *turns {
	return &turns{most: max(1, workers/4), taken: map[string]int{}}
}

// take reports whether a pass may wait for endpoints now. Then it must be released.
func (t *turns) take(namespace string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken[namespace] >= t.most {
		return false
	}
	t.taken[namespace]++
	return true
}

func (t *turns) release(namespace string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken[namespace]--; t.taken[namespace] == 0 {
		delete(t.taken, namespace)
	}
}
