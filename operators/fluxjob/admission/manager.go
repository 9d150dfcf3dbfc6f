package admission

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/armature-dev/armature/api/v1alpha1"
)

const (
	// defaultManager is the name of a manager that has none.
	defaultManager = "armature"
	// defaultTakeoverTimeout is how long a manager has to decline the request of another one.
	defaultTakeoverTimeout = 5 * time.Minute
)

// Manager is the manager that runs a plan: its identity, and which part of the cluster it watches. The zero value watches all of it.
type Manager struct {
	// Name is that of the installation. It stays the same when another of its managers leads. Default: armature.
	Name string
	// Namespaces are those that it watches. Default: all.
	Namespaces []string
	// Selector is the label selector of the objects that it works on. Default: all.
	Selector string
	// TakeoverTimeout is how long a manager has to decline a request for one of its queues before the queue is taken over.
	// Default: 5 minutes.
	TakeoverTimeout time.Duration
}

// String returns the manager's name.
func (m Manager) String() string { return cmp.Or(m.Name, defaultManager) }

func (m Manager) takeoverTimeout() time.Duration {
	return cmp.Or(m.TakeoverTimeout, defaultTakeoverTimeout)
}

// Is reports whether a queue's status names this manager.
func (m Manager) Is(record *v1alpha1.FluxSetupManager) bool {
	return record != nil && record.Name == m.String()
}

// IsRefused reports whether another manager has the queue and keeps it, because it has jobs in it. A queue without jobs of its
// manager is taken over, unless other queues of its cohort are in use: then this manager requests it, and the request counts as a refusal.
func (m Manager) IsRefused(setup *v1alpha1.FluxSetup) bool {
	record := setup.Status.Manager
	return record != nil && !m.Is(record) && (isInUse(setup) || setup.Spec.Cohort != "" && record.Takeover != nil)
}

// Sees reports whether the manager watches a namespace.
func (m Manager) Sees(namespace string) bool { return watches(m.Namespaces, namespace) }

func watches(namespaces []string, namespace string) bool {
	return len(namespaces) == 0 || slices.Contains(namespaces, namespace)
}

// record is what the status of a queue says of this manager.
func (m Manager) record() *v1alpha1.FluxSetupManager {
	namespaces := slices.Clone(m.Namespaces)
	slices.Sort(namespaces)
	return &v1alpha1.FluxSetupManager{Name: m.String(), Namespaces: namespaces, Selector: m.Selector}
}

// findManager finds out who manages the cohort: the manager of its first setup in use, or of its first one. A cohort has one
// manager, because its setups lend each other what each of them alone counts.
//
// Two managers never give at the same time: a setup's status is written with the version that was read; a manager gives
// nothing before its cache has its own name in all setups of the cohort; and once another has put its name into one of
// them, what the former manager still writes there is a conflict. No clock has a part in that, only in when a queue changes hands.
func (c *cohort) findManager() {
	inUse := false
	for _, s := range c.setups {
		record := s.Status.Manager
		if record != nil && (c.owner == nil || !inUse && isInUse(s)) {
			c.owner, inUse = record, isInUse(s)
		}
	}
	c.mine = c.owner == nil || c.manager.Is(c.owner)
	c.mayAdmit = c.mine
	for _, s := range c.setups {
		c.mayAdmit = c.mayAdmit && c.manager.Is(s.Status.Manager)
	}
}

// isInUse reports whether the manager on record has jobs in a setup: they wait, or hold a share of the quota. Reservations in
// namespaces that it doesn't watch are other managers', and no reason for it to keep the queue.
func isInUse(s *v1alpha1.FluxSetup) bool {
	var namespaces []string
	if record := s.Status.Manager; record != nil {
		namespaces = record.Namespaces
	}
	return len(s.Status.Queue) > 0 || slices.ContainsFunc(s.Status.Reservations, func(r v1alpha1.FluxReservation) bool {
		return watches(namespaces, r.Namespace)
	})
}

// decidesFor reports whether it is for this manager to say which jobs of a namespace hold a reservation: the manager of the queue
// says so where it watches, and each other manager in its own namespaces.
func (c *cohort) decidesFor(namespace string) bool {
	return c.manager.Sees(namespace) && (c.mine || !watches(c.owner.Namespaces, namespace))
}

// selectsSetup reports whether the manager on record sees the setup.
func selectsSetup(record *v1alpha1.FluxSetupManager, setup *v1alpha1.FluxSetup) bool {
	selector, err := labels.Parse(record.Selector)
	return err != nil || selector.Matches(labels.Set(setup.Labels))
}
