package utils

import (
	"os"
	"time"

	"github.com/go-logr/logr"
)

const (
	// ReconcileWait names the environment variable that LookupReconcileTime reads.
	ReconcileWait string = "RECONCILE_WAIT"
	// defaultWait is the default time between two passes.
	defaultWait = 10 * time.Second
)

// LookupReconcileTime returns the time between two passes: the environment variable RECONCILE_WAIT, a duration such as "30s". Default:
// 10 seconds. It logs an invalid value and returns the default.
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
