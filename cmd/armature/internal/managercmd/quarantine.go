package managercmd

import (
	"fmt"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/builder/quarantine"
)

// quarantined returns the manager with a quarantine for its operators, if there is a directory for it, and what has to be called
// when the process ends of its own accord.
func quarantined(mgr ctrl.Manager, dir string, logger logr.Logger) (with ctrl.Manager, ended func(), err error) {
	if dir == "" {
		return mgr, func() {}, nil
	}
	q, err := quarantine.Open(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("--state-dir: %w", err)
	}
	return q.Around(mgr), func() {
		if err := q.Close(); err != nil {
			logger.Error(err, "objects may be put off at the next start though nothing happened to them", "stateDir", dir)
		}
	}, nil
}
