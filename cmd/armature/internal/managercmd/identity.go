package managercmd

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
)

// scope is what the manager works on, as its lease says it to those who look for a manager.
func (o options) scope() (leader.Scope, error) {
	operators, err := selectOperators(o.operators)
	if err != nil {
		return leader.Scope{}, err
	}
	s := leader.Scope{Namespaces: slices.Sorted(slices.Values(o.namespaces())), Selector: o.selector}
	for _, op := range operators {
		s.Operators = append(s.Operators, op.name)
	}
	return s, nil
}

// queueManager is the identity of this manager in the queues: its installation, by the lease of its managers, so that the next leader
// continues at once. Managers without leader election differ by the namespaces that they watch.
func (o options) queueManager() (admission.Manager, error) {
	namespace, err := ownNamespace(o)
	if err != nil {
		return admission.Manager{}, err
	}
	name := namespace + "/" + o.leaderElectName
	if seen := strings.Join(slices.Sorted(slices.Values(o.watchNamespaces)), ",") + ";" + o.selector; !o.leaderElect && seen != ";" {
		sum := sha256.Sum256([]byte(seen))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	// The reservations of jobs that it doesn't see remain.
	return admission.Manager{Name: name, Namespaces: slices.Sorted(slices.Values(o.namespaces())), Selector: o.selector}, nil
}
