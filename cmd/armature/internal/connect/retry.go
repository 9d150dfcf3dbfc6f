package connect

import (
	"errors"
	"math"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
)

// IsRefusal reports whether the API server has refused a request for good: the same request would get the same answer. Other errors may
// pass, such as those of an API server that restarts or is overloaded.
func IsRefusal(err error) bool {
	if meta.IsNoMatchError(err) {
		return true
	}
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// Retries returns the delays before the repetitions of a request: one second at first, at most five.
func Retries() *wait.Backoff {
	return &wait.Backoff{Duration: time.Second, Factor: 2, Jitter: 0.1, Steps: math.MaxInt32, Cap: 5 * time.Second}
}
