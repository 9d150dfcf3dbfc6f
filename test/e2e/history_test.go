//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// write is a request that changed an object, as the API server's audit log has it. The log outlives the API server, which
// a watch does not.
type write struct {
	user, verb string
	// pod is the one that the user's token belongs to, if it does: that is how managers are told apart.
	pod string
	// at is when the API server answered.
	at time.Time
	// order is the version that the write made, or where its answer had none, the highest before it in the log.
	order uint64
	// resource is such as "jobs.batch" or "pods/status".
	resource, name string
	object         writtenObject
	// raw is the whole object, or what else the answer was.
	raw []byte
}

// key names the object, such as "jobs.batch x".
func (w *write) key() string {
	resource, _, _ := strings.Cut(w.resource, "/")
	return resource + " " + w.name
}

// decode reads the whole object, and tells whether there is one.
func (w *write) decode(into any) bool { return json.Unmarshal(w.raw, into) == nil }

// writtenObject is what the suite looks at of any object. It is empty where the answer to a request is none.
type writtenObject struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		NodeName string
		Suspend  bool
	}
	Status struct {
		Phase             corev1.PodPhase
		ContainerStatuses []corev1.ContainerStatus
		Conditions        []struct{ Type, Status string }
		// Of JobFlows.
		Flows []struct{ Name, State string }
		Retry int32
	}
}

// is tells whether a condition of the object was True after the write.
func (o *writtenObject) is(condition string) bool {
	for _, c := range o.Status.Conditions {
		if c.Type == condition && c.Status == "True" {
			return true
		}
	}
	return false
}

// version is where the write is in the order of all writes.
func (w *write) version(s *space) uint64 {
	version, err := strconv.ParseUint(w.object.ResourceVersion, 10, 64)
	require.NoError(s, err)
	return version
}

// byOperator tells whether a manager wrote it, or an example's operator: all others are users or Kubernetes.
func (w *write) byOperator() bool {
	return strings.HasPrefix(w.user, "system:serviceaccount:") && !strings.HasPrefix(w.user, "system:serviceaccount:kube-system:")
}

func isManager(user string) bool { return strings.HasPrefix(user, "system:serviceaccount:"+home+":") }

// ours tells whether it is an object of a kind of Armature's or of an example's.
func (w *write) ours() bool {
	return strings.Contains(w.resource, ".api.practice.com") || strings.Contains(w.resource, ".examples.armature.dev")
}

// isOwned tells whether it has an owner of a kind of Armature's or of an example's.
func (o *writtenObject) isOwned() bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && (strings.HasPrefix(owner.APIVersion, "api.practice.com/") || strings.HasPrefix(owner.APIVersion, "examples.armature.dev/"))
}

// history are the writes that succeeded in the namespace, in the order in which they were made. The log has them in that of
// the answers, which is another one when much happens at once.
func (s *space) history() []write {
	s.Helper()
	var writes []write
	latest := uint64(0)
	for _, event := range s.requestsIn(s.name) {
		if event.ResponseStatus == nil || event.ResponseStatus.Code >= 300 || strings.Contains(event.RequestURI, "dryRun=All") {
			continue
		}
		w := s.writeOf(event)
		if w.order == 0 {
			w.order = latest
		}
		latest = max(latest, w.order)
		writes = append(writes, w)
	}
	slices.SortStableFunc(writes, func(a, b write) int { return cmp.Compare(a.order, b.order) })
	return writes
}

// writeOf reads a write from the log. Its order is 0 if the answer had no version.
func (s *space) writeOf(event *auditv1.Event) write {
	ref := event.ObjectRef
	w := write{user: event.User.Username, pod: podOf(event), verb: event.Verb, at: event.StageTimestamp.Time, resource: resourceOf(ref), name: ref.Name}
	if event.ResponseObject != nil {
		// Of what is no object, such as a Status, nothing is looked at.
		w.raw = event.ResponseObject.Raw
		_ = json.Unmarshal(w.raw, &w.object)
	}
	if w.name == "" { // a create request doesn't name its object
		w.name = w.object.Name
	}
	if w.object.ResourceVersion != "" {
		w.order = w.version(s)
	}
	return w
}

// requireOnce fails if there was ever more than one Job of a name, or if there was not exactly this number of them. It looks at
// all that was written to Jobs: the creation of one may be on record as a failure, when who asked for it was killed meanwhile.
func (s *space) requireOnce(jobs int) {
	s.Helper()
	made := map[string]map[types.UID]bool{}
	for _, w := range s.history() {
		if resource, _, _ := strings.Cut(w.resource, "/"); resource != "jobs.batch" || w.object.UID == "" {
			continue
		}
		if made[w.name] == nil {
			made[w.name] = map[types.UID]bool{}
		}
		made[w.name][w.object.UID] = true
	}
	assert.Len(s, made, jobs)
	for name, uids := range made {
		assert.Len(s, uids, 1, "Job %s was made more than once", name)
	}
}

// requireOrder fails if a Job was made before a pod of the one that it depends on had succeeded.
//
// What a killed API server or etcd has carried out, it may not have told of. If a Job's creation is not in the log, its first
// change is later; if its success isn't, the times count that the objects have themselves, in whole seconds.
func (s *space) requireOrder(before, after string) {
	s.Helper()
	var made, succeeded *write
	history := s.history()
	for i := range history {
		w := &history[i]
		resource, _, _ := strings.Cut(w.resource, "/")
		switch {
		case made == nil && resource == "jobs.batch" && w.name == after && w.object.UID != "":
			made = w
		case succeeded == nil && resource == "pods" && w.object.Labels[batchv1.JobNameLabel] == before && w.object.Status.Phase == corev1.PodSucceeded:
			succeeded = w
		}
	}
	require.NotNil(s, succeeded, "Job %s has not succeeded", before)
	require.NotNil(s, made, "there was no Job %s", after)
	if succeeded.resource == "pods/status" {
		assert.Less(s, succeeded.order, made.order, "Job %s was made before Job %s had succeeded", after, before)
		return
	}
	created, finished := made.object.CreationTimestamp, succeeded.object.Status.ContainerStatuses[0].State.Terminated.FinishedAt
	assert.False(s, created.Before(&finished), "Job %s was made at %s, before Job %s had succeeded at %s", after, created, before, finished)
}

// assertNothingForeignTouched fails if an operator wrote to an object that none has made, but for the kinds that users
// make for operators. What belongs to one of them counts as made, whoever wrote it then: an API server that is killed may not
// have told the log of its creation.
func (s *space) assertNothingForeignTouched() {
	s.Helper()
	made := map[string]bool{}
	for _, w := range s.history() {
		resource, _, _ := strings.Cut(w.resource, "/")
		object := resource + " " + w.name
		switch {
		case w.object.isOwned(), w.byOperator() && w.verb == "create" && resource == w.resource:
			made[object] = true
		case !w.byOperator() || w.ours():
		default:
			assert.True(s, made[object], "%s did a %s of %s %s, which no operator has made", w.user, w.verb, w.resource, w.name)
		}
	}
}
