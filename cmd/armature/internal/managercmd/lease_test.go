package managercmd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func TestLeasesThatDoNotFitAreRefused(t *testing.T) {
	for _, c := range []struct {
		lease
		says string
	}{
		{lease{15 * time.Second, 10 * time.Second, 2 * time.Second}, ""},
		{lease{4 * time.Second, 3 * time.Second, 500 * time.Millisecond}, ""},
		{lease{0, 10 * time.Second, 2 * time.Second}, "--leader-elect-lease-duration must be whole seconds, at least 1s, got 0s"},
		{lease{4500 * time.Millisecond, 3 * time.Second, time.Second}, "--leader-elect-lease-duration must be whole seconds, at least 1s, got 4.5s"},
		{lease{15 * time.Second, 10 * time.Second, 0}, "--leader-elect-retry-period must be more than 0, got 0s"},
		{lease{10 * time.Second, 10 * time.Second, 2 * time.Second}, "--leader-elect-renew-deadline, 10s, must be shorter than --leader-elect-lease-duration, 10s"},
		{lease{15 * time.Second, 12 * time.Second, 10 * time.Second}, "--leader-elect-renew-deadline, 12s, must be longer than 12s, which is 1.2 times --leader-elect-retry-period"},
	} {
		err := c.validate()
		_, byClientGo := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			LeaseDuration: c.duration, RenewDeadline: c.renewDeadline, RetryPeriod: c.retryPeriod,
			Lock: &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}},
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {},
			},
		})
		if c.says == "" {
			require.NoError(t, err)
			require.NoError(t, byClientGo)
			continue
		}
		assert.EqualError(t, err, c.says)
		require.EqualError(t, options{concurrency: 1, qps: -1, leaderElect: true, lease: c.lease}.validate(), c.says)
		assert.NoError(t, options{concurrency: 1, qps: -1, lease: c.lease}.validate(), "without leader election they are about nothing")
	}
}
