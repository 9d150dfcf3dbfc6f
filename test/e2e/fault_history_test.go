//go:build e2e

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/ptr"
)

// requireNothingTwice fails if operators made any object a second time, of whatever kind.
func (s *space) requireNothingTwice() {
	s.Helper()
	made := map[string]string{}
	for _, w := range s.history() {
		if w.verb != "create" || !w.byOperator() {
			continue
		}
		object := w.resource + " " + w.name
		assert.NotContains(s, made, object, "%s was made by %s, after %s had", object, w.pod, made[object])
		made[object] = w.pod
	}
	assert.NotEmpty(s, made)
}

// requireOnlyLeadersWrote fails if a manager asked for any change in the namespace while it did not hold the lease, also if
// that was refused: each request must have reached the API server after one that gave that manager the lease, and before one
// that gave it to another.
func (s *space) requireOnlyLeadersWrote() {
	s.Helper()
	leases := s.leases()
	for _, request := range s.requestsIn(s.name) {
		if !isManager(request.User.Username) {
			continue
		}
		led, received := "", request.RequestReceivedTimestamp.Time
		for _, l := range leases {
			if l.at.After(received) {
				break
			}
			led = l.holder
		}
		ref := request.ObjectRef
		assert.Equal(s, podOf(request), led, "a %s of %s %s at %s, when the lease was not its own", request.Verb, resourceOf(ref), ref.Name, received)
	}
}

// held says that from a moment on the lease was a pod's, or nobody's.
type held struct {
	at     time.Time
	holder string
}

// leases tells who held the managers' lease, and from when on, in the order of time.
func (s *space) leases() (found []held) {
	s.Helper()
	for _, event := range s.requestsIn(home) {
		if event.ObjectRef.Resource != "leases" || event.ObjectRef.Name != managersLease && event.Verb != "create" ||
			event.ResponseStatus == nil || event.ResponseStatus.Code >= 300 {
			continue
		}
		lease := &coordinationv1.Lease{}
		require.NoError(s, json.Unmarshal(event.ResponseObject.Raw, lease))
		if lease.Name == managersLease {
			pod, _, _ := strings.Cut(ptr.Deref(lease.Spec.HolderIdentity, ""), "_")
			found = append(found, held{event.RequestReceivedTimestamp.Time, pod})
		}
	}
	require.NotEmpty(s, found, "the audit log has no lease")
	slices.SortStableFunc(found, func(a, b held) int { return a.at.Compare(b.at) })
	return found
}
