package managercmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// withoutEffect are the flags, and the beginnings of the names of flags, that change no plan. All others count as a part of the build.
var withoutEffect = []string{
	"health-probe-", "kube-api-", "leader-elect-lease-duration", "leader-elect-renew-deadline", "leader-elect-retry-period", "log-",
	"max-concurrent-reconciles", "metrics-", "pprof-", "record-", "rollout-max-owners", "state-dir", "webhook",
}

// planFlags returns the flags that may change a plan, with their values. A change of the others begins no roll-out, and so keeps an abort.
func planFlags(f *pflag.FlagSet) []string {
	var all []string
	f.VisitAll(func(flag *pflag.Flag) {
		if !slices.ContainsFunc(withoutEffect, func(name string) bool { return strings.HasPrefix(flag.Name, name) }) {
			all = append(all, flag.Name+"="+flag.Value.String())
		}
	})
	return all
}

// inTurns returns the manager whose operators change existing objects in turns when the program is new. The records are beside the
// lease, and have its name, because managers with different objects have different ones.
func inTurns(mgr ctrl.Manager, o options, build string) (ctrl.Manager, error) {
	if release.IsUnlimited(o.rolloutMaxOwners) {
		return mgr, nil
	}
	namespace, err := ownNamespace(o)
	if err != nil {
		return nil, err
	}
	with, err := release.Around(mgr, release.Options{
		MaxOwners: o.rolloutMaxOwners, Namespace: namespace, Name: o.leaderElectName + leader.RolloutSuffix, Build: build,
	})
	if err != nil {
		return nil, fmt.Errorf("prepare the roll-out of this version: %w", err)
	}
	return with, nil
}
