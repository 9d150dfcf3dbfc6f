package managercmd

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/builder/release"
)

// inTurns returns the manager whose operators change existing objects in turns when the program is new. The records are beside the
// lease, and have its name, because managers with different objects have different ones.
func inTurns(mgr ctrl.Manager, o options) (ctrl.Manager, error) {
	if release.IsUnlimited(o.rolloutMaxOwners) {
		return mgr, nil
	}
	namespace, err := ownNamespace(o)
	if err != nil {
		return nil, err
	}
	with, err := release.Around(mgr, release.Options{
		MaxOwners: o.rolloutMaxOwners, Namespace: namespace, Name: o.leaderElectName + "-rollout",
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the roll-out of this version: %w", err)
	}
	return with, nil
}
