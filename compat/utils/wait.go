package utils

import (
	"os"
	"time"

	"github.com/go-logr/logr"
)

const (
	// ReconcileWait names the environment variable that LookupReconcileTime reads.
	ReconcileWait string = "RECONCILE_WAIT"
	// defaultWait is the time between two passes if the environment says nothing.
	defaultWait = 10 * time.Second
)

// LookupReconcileTime returns the time between two passes: the environment's RECONCILE_WAIT, a duration such as "30s",
// and 10 seconds without one. A value that is no duration is logged, and 10 seconds it is.
func LookupReconcileTime(log logr.Logger) time.Duration {
	value, ok := os.LookupEnv(ReconcileWait)
	if !ok {
		return defaultWait
	}
	wait, err := time.ParseDuration(value)
	if err != nil {
		log.Error(err, "environment variable is no duration, such as 30s; the default is used",
			"variable", ReconcileWait, "default", defaultWait)
		return defaultWait
	}
	return wait
}
