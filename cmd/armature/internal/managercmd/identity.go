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
	s := leader.Scope{Namespaces: slices.Sorted(slices.Values(o.watchNamespaces)), Selector: o.selector}
	for _, op := range operators {
		s.Operators = append(s.Operators, op.name)
	}
	return s, nil
}

// queueManager is who this manager is to the queues: its installation, by the lease that the managers of one compete for. So
// the next leader goes on at once. Managers without leader election are told from each other by what they see.
func (o options) queueManager() (admission.Manager, error) {
	namespace, err := ownNamespace(o)
	if err != nil {
		return admission.Manager{}, err
	}
	namespaces := slices.Sorted(slices.Values(o.watchNamespaces))
	name := namespace + "/" + o.leaderElectName
	if seen := strings.Join(namespaces, ",") + ";" + o.selector; !o.leaderElect && seen != ";" {
		sum := sha256.Sum256([]byte(seen))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	return admission.Manager{Name: name, Namespaces: namespaces, Selector: o.selector}, nil
}
