// Package leader reads which managers there are: their leases say who leads, since when, and what the manager works on.
package leader

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// LabelName is the label by which the leases of managers are found. Its value is Name.
	LabelName = "app.kubernetes.io/name"
	// Name is the value of LabelName.
	Name = "armature"
	// AnnotationScope is the annotation of a manager's lease for its Scope, as JSON.
	AnnotationScope = "api.practice.com/manager-scope"
	// RolloutSuffix follows the name of a manager's lease in the names of its roll-outs' records.
	RolloutSuffix = "-rollout"
)

// lateness is how much later than its lease allows a manager may be before it counts as gone: clocks differ.
const lateness = 5 * time.Second

// Scope is what a manager works on.
type Scope struct {
	// Operators are the names of its operators, which are those of their kinds in lower case.
	Operators []string `json:"operators"`
	// Namespaces are those that it watches. Empty: all.
	Namespaces []string `json:"namespaces,omitempty"`
	// Selector is the label selector of the objects that it works on. Empty: all.
	Selector string `json:"selector,omitempty"`
}

// Covers reports whether a manager works on an object of a kind.
func (s Scope) Covers(kind string, obj metav1.Object) bool {
	operator := strings.ToLower(kind)
	if operator == "fluxsetup" {
		operator = "fluxjob" // which runs the queues, too
	}
	selector, err := labels.Parse(s.Selector)
	return err == nil && slices.Contains(s.Operators, operator) && selector.Matches(labels.Set(obj.GetLabels())) &&
		(len(s.Namespaces) == 0 || obj.GetNamespace() == "" || slices.Contains(s.Namespaces, obj.GetNamespace()))
}

// String says what a manager works on, as its flags do.
func (s Scope) String() string {
	text := "--operators=" + strings.Join(s.Operators, ",")
	if len(s.Namespaces) > 0 {
		text += " --watch-namespaces=" + strings.Join(s.Namespaces, ",")
	}
	if s.Selector != "" {
		text += fmt.Sprintf(" --selector=%q", s.Selector)
	}
	return text
}

// Manager is an installation of the manager, by its lease.
type Manager struct {
	// Namespace and Lease name the lease.
	Namespace, Lease string
	// Holder is who leads; empty if the last leader has released the lease.
	Holder string
	// Renewed is when the lease was last renewed or released.
	Renewed time.Time
	// Duration is how long the lease is valid from then on.
	Duration time.Duration
	// Scope is what it works on.
	Scope Scope
}

// Expires is when the manager counts as gone, if it doesn't renew the lease.
func (m Manager) Expires() time.Time { return m.Renewed.Add(m.Duration + lateness) }

// Gone returns the managers that work on something, if all of them are gone. If it was written later than they could have, a manager
// without a lease works on it, and none is gone.
func Gone(all []Manager, worksOn func(Manager) bool, written, now time.Time) []Manager {
	var gone []Manager
	for _, m := range all {
		switch {
		case !worksOn(m):
		case !now.After(m.Expires()), written.After(m.Expires()):
			return nil
		default:
			gone = append(gone, m)
		}
	}
	return gone
}

// SinceWhen says since when managers are gone.
func SinceWhen(gone []Manager, now time.Time) string {
	var all []string
	for _, m := range gone {
		ago := now.Sub(m.Renewed).Truncate(time.Second).String() + " ago"
		how := "was last renewed " + ago + " by " + m.Holder
		if m.Holder == "" {
			how = "was released " + ago
		}
		all = append(all, fmt.Sprintf("the lease %s/%s %s", m.Namespace, m.Lease, how))
	}
	return strings.Join(all, ", ")
}

// Find is [Read] for a command with the flag --leader-elect-namespace. Its error names the flag to users who may not list all leases.
func Find(ctx context.Context, c client.Reader, namespace string) ([]Manager, error) {
	managers, err := Read(ctx, c, namespace)
	switch {
	case apierrors.IsForbidden(err) && namespace == "":
		return nil, fmt.Errorf("find the manager: %w: name the namespace of its lease with --leader-elect-namespace, "+
			"if you may list the leases there", err)
	case err != nil:
		return nil, fmt.Errorf("find the manager: %w", err)
	}
	return managers, nil
}

// Read returns the managers that elect a leader, in the order of their leases' names. It reads the leases of a namespace, or of all if the
// namespace is empty.
func Read(ctx context.Context, c client.Reader, namespace string) ([]Manager, error) {
	var leases coordinationv1.LeaseList
	if err := c.List(ctx, &leases, client.InNamespace(namespace), client.MatchingLabels{LabelName: Name}); err != nil {
		return nil, fmt.Errorf("list leases: %w", err)
	}
	var all []Manager
	for i := range leases.Items {
		l := &leases.Items[i]
		m := Manager{
			Namespace: l.Namespace, Lease: l.Name, Holder: ptr.Deref(l.Spec.HolderIdentity, ""),
			Duration: time.Duration(ptr.Deref(l.Spec.LeaseDurationSeconds, 0)) * time.Second,
		}
		if l.Spec.RenewTime == nil || json.Unmarshal([]byte(l.Annotations[AnnotationScope]), &m.Scope) != nil {
			continue // it is no manager's, or of a version that doesn't say what it works on
		}
		m.Renewed = l.Spec.RenewTime.Time
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b Manager) int { return strings.Compare(a.Namespace+"/"+a.Lease, b.Namespace+"/"+b.Lease) })
	return all, nil
}
