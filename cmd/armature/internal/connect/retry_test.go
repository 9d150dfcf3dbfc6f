package connect

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestIsRefusal(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for _, err := range []error{
		apierrors.NewForbidden(pods, "", nil), apierrors.NewUnauthorized("expired"), apierrors.NewNotFound(pods, "p"), apierrors.NewBadRequest("bad"),
		fmt.Errorf("list: %w", apierrors.NewForbidden(pods, "", nil)), fmt.Errorf("list: %w", &meta.NoKindMatchError{}),
	} {
		assert.True(t, IsRefusal(err), "%v", err)
	}
	for _, err := range []error{
		nil, errors.New("boom"), fmt.Errorf(`Get "https://10.0.0.1": %w`, syscall.ECONNREFUSED), apierrors.NewServiceUnavailable("starting"),
		apierrors.NewTooManyRequestsError("later"), apierrors.NewInternalError(errors.New("webhook")), apierrors.NewTimeoutError("slow", 1),
	} {
		assert.False(t, IsRefusal(err), "%v", err)
	}
}

func TestRetries(t *testing.T) {
	delays := Retries()
	for _, least := range []time.Duration{1, 2, 4, 5, 5, 5} {
		delay := delays.Step()
		assert.GreaterOrEqual(t, delay, least*time.Second)
		assert.Less(t, delay, least*time.Second*6/5)
	}
}
