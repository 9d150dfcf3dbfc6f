package builder_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/running"
)

// A standby runs no controller, but fills its caches. It is ready when it has the owners, too.
func TestAStandbyIsReadyWithItsOwners(t *testing.T) {
	a := newLateAPI(t)
	o := builder.NewOperator[*batchv1.Job](a, t.Name()).Owns(&corev1.ConfigMap{}).
		Plan(func(*batchv1.Job, builder.View) builder.Plan[*batchv1.Job] { return builder.Plan[*batchv1.Job]{} })
	a.installJobs()
	a.isDenied.Store(true)
	require.NoError(t, o.Complete())
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.GetCache().Start(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	configMaps, err := a.GetCache().GetInformer(ctx, &corev1.ConfigMap{})
	require.NoError(t, err)
	require.Eventually(t, configMaps.HasSynced, time.Minute, time.Millisecond)

	ready := running.CacheReady(a)
	request := func(ctx context.Context) *http.Request {
		return httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil)
	}
	short, end := context.WithTimeout(ctx, 200*time.Millisecond)
	defer end()
	assert.EqualError(t, ready(request(short)), "the caches are not filled yet")
	a.isDenied.Store(false)
	require.Eventually(t, func() bool { return ready(request(ctx)) == nil }, time.Minute, time.Millisecond)
}
