package running

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// fakeManager is a manager whose passes need some time to end.
type fakeManager struct {
	manager.Manager
	filled  chan struct{} // closed when the caches are filled
	found   chan struct{} // receives each time that the caches are found filled; nil: nobody wants to know
	isLater atomic.Bool   // a kind was added later, whose cache is never filled
	passes  time.Duration
}

var errEnded = errors.New("ended")

func (m *fakeManager) Start(ctx context.Context) error {
	<-m.filled
	<-ctx.Done()
	time.Sleep(m.passes)
	return errEnded
}

func (m *fakeManager) GetCache() cache.Cache { return fakeCache{nil, m} }

type fakeCache struct {
	cache.Cache
	of *fakeManager
}

func (c fakeCache) WaitForCacheSync(ctx context.Context) bool {
	if c.of.isLater.Load() {
		<-ctx.Done()
		return false
	}
	select {
	case <-c.of.filled:
		if c.of.found != nil {
			c.of.found <- struct{}{}
		}
		return true
	case <-ctx.Done():
		return false
	}
}

// A kind whose cache is never filled, such as one that OwnsLater adds, cuts no stop short.
func TestAStopWaitsForPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeManager{filled: make(chan struct{}), found: make(chan struct{}), passes: 3 * stopWithin / 2}
		close(m.filled)
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			<-m.found
			m.isLater.Store(true)
			stop()
		}()
		assert.Equal(t, errEnded, Run(ctx, m, nil))
	})
}

func TestAStopDoesntWaitForCachesThatNeverFill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		m := &fakeManager{filled: make(chan struct{})}
		time.AfterFunc(stopWithin/100, stop)
		assert.Equal(t, ErrNeverFilled, Run(ctx, m, nil))
		close(m.filled) // the process, which would have ended, is left behind
	})
}

func TestALostLeaseEndsTheProgram(t *testing.T) {
	lost := make(chan struct{})
	close(lost)
	assert.Equal(t, ErrLost, Run(t.Context(), &fakeManager{}, lost))
}

// A program stays ready while it watches a further kind.
func TestReadiness(t *testing.T) {
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil)
	m := &fakeManager{filled: make(chan struct{})}
	ready := CacheReady(m)
	ended, end := context.WithCancel(t.Context())
	end()
	require.EqualError(t, ready(request.WithContext(ended)), "the caches are not filled yet")
	close(m.filled)
	require.NoError(t, ready(request))
	m.isLater.Store(true)
	require.NoError(t, ready(request.WithContext(ended)))
}
