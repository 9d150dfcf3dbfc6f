package supervisor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// The end of the time may come before the first answer.
func TestUntilWithoutAnAnswer(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("timeout"))
	err := until(ctx, "kube-apiserver", time.Hour, func(ctx context.Context) error { return ctx.Err() })
	assert.EqualError(t, err, "kube-apiserver: timeout")
}
