package statedir

import (
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/quarantine"
)

// Quarantined returns a manager with a quarantine for its operators whose record is in a directory, the value of the flag --state-dir, and
// the function to call when the process ends as intended. Without a directory (empty) it returns the manager itself. It returns errors of
// the file system.
func Quarantined(mgr manager.Manager, dir string) (with manager.Manager, ended func(), err error) {
	if dir == "" {
		return mgr, func() {}, nil
	}
	q, err := quarantine.Open(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("--state-dir: %w", err)
	}
	return q.Around(mgr), func() {
		if err := q.Close(); err != nil {
			mgr.GetLogger().Error(err, "objects may be put off at the next start though nothing happened to them", "stateDir", dir)
		}
	}, nil
}
