package managercmd

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fakeLock is a lease in memory.
type fakeLock struct {
	resourcelock.Interface
	record resourcelock.LeaderElectionRecord
	err    error
	// asked is called when a write of the lease is under way.
	asked func()
}

func (l *fakeLock) Identity() string { return "me" }

func (l *fakeLock) Get(context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	return &l.record, nil, l.err
}

func (l *fakeLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

func (l *fakeLock) Update(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	if l.asked != nil {
		l.asked()
	}
	if l.err == nil {
		l.record = record
	}
	return l.err
}

func holder(name string) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: name}
}

// renewed is the record of a leader who renews it at a time.
func renewed(at time.Time) resourcelock.LeaderElectionRecord {
	return resourcelock.LeaderElectionRecord{HolderIdentity: "me", RenewTime: metav1.NewTime(at)}
}

// leaseOf is one whose holder may write for so long after a renewal.
func leaseOf(renewDeadline time.Duration) lease {
	return lease{duration: renewDeadline + time.Second, renewDeadline: renewDeadline}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestFence(t *testing.T) {
	now := time.Now()
	lock := &fakeLock{record: holder("other")}
	f := newFence(lock, leaseOf(4*time.Second))
	f.now = func() time.Time { return now }

	_, _, err := f.Get(t.Context())
	require.NoError(t, err)
	assert.False(t, f.closed(), "who has never led, stands by")
	assert.False(t, isClosed(f.lost))

	require.NoError(t, f.Create(t.Context(), renewed(now)))
	now = now.Add(4 * time.Second)
	assert.False(t, f.closed())
	require.NoError(t, f.Update(t.Context(), renewed(now)))
	now = now.Add(3 * time.Second)
	lock.err = errors.New("no connection")
	require.Error(t, f.Update(t.Context(), renewed(now)))
	_, _, err = f.Get(t.Context())
	require.Error(t, err)
	assert.False(t, f.closed(), "it holds")
	now = now.Add(time.Second + time.Millisecond)
	assert.True(t, f.closed(), "a renewal that failed is none")
	assert.False(t, isClosed(f.lost), "nobody else has it yet")

	lock.err = nil
	require.NoError(t, f.Update(t.Context(), renewed(now)))
	assert.False(t, f.closed(), "it is renewed, since nobody took it")
	lock.record = holder("other")
	for range 2 {
		_, _, err = f.Get(t.Context())
		require.NoError(t, err)
		assert.True(t, isClosed(f.lost))
	}
}

// Those who wait compare whole seconds: they count from the first renewal in a second, also if it failed as far as the leader
// knows, and don't see the next one.
func TestFenceCountsFromTheFirstRenewalOfASecond(t *testing.T) {
	for _, first := range []error{nil, errors.New("no answer")} {
		begin := time.Now().Truncate(time.Second)
		now := begin
		lock := &fakeLock{}
		f := newFence(lock, leaseOf(4*time.Second))
		f.now = func() time.Time { return now }
		lock.err = first
		require.ErrorIs(t, f.Update(t.Context(), renewed(now)), first)
		lock.err = nil
		now = begin.Add(600 * time.Millisecond)
		require.NoError(t, f.Update(t.Context(), renewed(now)))
		now = begin.Add(4 * time.Second)
		assert.False(t, f.closed())
		now = begin.Add(4*time.Second + time.Millisecond)
		assert.True(t, f.closed())

		now = begin.Add(time.Second)
		require.NoError(t, f.Update(t.Context(), renewed(now)))
		now = begin.Add(5 * time.Second)
		assert.False(t, f.closed(), "the next second counts")
	}
}

// A leader that can't renew the lease releases it while its passes may still be at work.
func TestFenceIsClosedBeforeARelease(t *testing.T) {
	lock := &fakeLock{}
	f := newFence(lock, leaseOf(time.Hour))
	require.NoError(t, f.Create(t.Context(), holder("me")))
	assert.False(t, f.closed())
	released := false
	lock.asked = func() { released = f.closed() }
	require.NoError(t, f.Update(t.Context(), holder("")))
	assert.True(t, released, "nothing is written any more when the release is under way")
	assert.True(t, f.closed())
}

// Client-go reads the lease when it releases it, and then releases whatever it has read: what was frozen would release that of
// its successor.
func TestFenceReleasesNoOthersLease(t *testing.T) {
	lock := &fakeLock{}
	f := newFence(lock, leaseOf(time.Hour))
	require.NoError(t, f.Create(t.Context(), holder("me")))
	lock.record = holder("other")
	_, _, err := f.Get(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, f.Update(t.Context(), holder("")), errLeaseLost)
	assert.Equal(t, holder("other"), lock.record)

	require.NoError(t, f.Update(t.Context(), holder("me")), "what has run out may be taken")
}

// suspended returns what the clocks of a machine show when it wakes: the monotonic one stands still meanwhile.
func suspended(t *testing.T, before time.Time, d time.Duration) time.Time {
	t.Helper()
	after := before.Add(d)
	(*struct { // the layout of a time.Time with a monotonic reading
		wall      uint64
		monotonic int64
		location  *time.Location
	})(unsafe.Pointer(&after)).monotonic -= int64(d)
	require.Zero(t, after.Sub(before))
	require.Equal(t, d, after.Round(0).Sub(before.Round(0)))
	return after
}

func TestFenceIsClosedAfterTheMachineWasSuspended(t *testing.T) {
	now := time.Now()
	f := newFence(&fakeLock{}, leaseOf(4*time.Second))
	f.now = func() time.Time { return now }
	require.NoError(t, f.Create(t.Context(), renewed(now)))
	now = suspended(t, now, time.Hour)
	assert.True(t, f.closed())
	require.NoError(t, f.Update(t.Context(), renewed(now)))
	assert.False(t, f.closed(), "nobody took the lease")
	now = suspended(t, now, -time.Hour)
	assert.False(t, f.closed(), "the wall clock was set back")
	now = now.Add(4*time.Second + time.Millisecond)
	assert.True(t, f.closed(), "which delays nothing")
}

func TestFenceStopsWritesOnly(t *testing.T) {
	now := time.Now()
	f := newFence(&fakeLock{}, leaseOf(time.Second))
	f.now = func() time.Time { return now }
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	c := http.Client{Transport: f.guard(http.DefaultTransport)}
	ask := func(method string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, http.NoBody)
		require.NoError(t, err)
		answer, err := c.Do(request)
		if err == nil {
			require.NoError(t, answer.Body.Close())
		}
		return err
	}
	require.NoError(t, ask(http.MethodPost))
	require.NoError(t, f.Create(t.Context(), holder("me")))
	require.NoError(t, ask(http.MethodPost))
	now = now.Add(2 * time.Second)
	require.NoError(t, ask(http.MethodGet))
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		require.ErrorIs(t, ask(method), errFenced)
	}
}

// A request may have passed the guard when the process is frozen. By HTTP/2, which API servers speak, and by HTTP/1.
func TestFenceStopsWhatHasPassedTheGuard(t *testing.T) {
	for _, http2 := range []bool{true, false} {
		begin, frozen := time.Now(), atomic.Int64{}
		f := newFence(&fakeLock{}, leaseOf(time.Second))
		f.now = func() time.Time { return begin.Add(time.Duration(frozen.Load())) } // connections ask at any time
		var served atomic.Int32
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served.Add(1) }))
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are broken off
		server.EnableHTTP2 = http2
		server.StartTLS()
		defer server.Close()

		freeze := time.Duration(0)
		cfg := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(r *http.Request) (*http.Response, error) {
				frozen.Add(int64(freeze))
				return next.RoundTrip(r)
			})
		})
		f.around(cfg)
		c, err := rest.HTTPClientFor(cfg)
		require.NoError(t, err)
		post := func() error {
			answer, err := c.Post(server.URL, "", http.NoBody)
			if err == nil {
				require.NoError(t, answer.Body.Close())
			}
			return err
		}
		require.NoError(t, f.Create(t.Context(), renewed(f.now())))
		require.NoError(t, post())

		freeze = 2 * time.Second
		require.ErrorIs(t, post(), errFenced)
		assert.Equal(t, int32(1), served.Load())

		freeze = 0
		require.NoError(t, f.Update(t.Context(), renewed(f.now())))
		require.NoError(t, post(), "nobody took the lease, so it goes on")
	}
}
