//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	// order is the version that the write made, or where its answer had none, that of the one before it in the log.
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
		Phase      corev1.PodPhase
		Conditions []struct{ Type, Status string }
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
	for _, event := range requestsIn(s, s.name) {
		writes = s.append(writes, event)
	}
	slices.SortStableFunc(writes, func(a, b write) int { return cmp.Compare(a.order, b.order) })
	return writes
}

// requestsIn are those that would change something in a namespace, whatever came of them, in the order of the log.
func requestsIn(s *space, namespace string) []*auditv1.Event {
	s.Helper()
	// The API server begins a new file when one is large. Their names sort by time, and the last has none in it.
	files, err := filepath.Glob(filepath.Join(os.Getenv("E2E_CLUSTER"), "logs", "audit*.log"))
	require.NoError(s, err)
	require.NotEmpty(s, files, "there is no audit log")
	slices.SortFunc(files, func(a, b string) int {
		return strings.Compare(strings.TrimSuffix(a, ".log")+"~", strings.TrimSuffix(b, ".log")+"~")
	})
	var found []*auditv1.Event
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(s, err)
		defer f.Close()
		lines := bufio.NewReader(f)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil { // the last line may be half written
				break
			}
			if bytes.Contains(line, []byte(`"namespace":"`+namespace+`"`)) {
				event := &auditv1.Event{}
				require.NoError(s, json.Unmarshal(line, event))
				if event.ObjectRef != nil && event.ObjectRef.Namespace == namespace {
					found = append(found, event)
				}
			}
		}
	}
	return found
}

func (s *space) append(writes []write, event *auditv1.Event) []write {
	ref := event.ObjectRef
	if event.ResponseStatus == nil || event.ResponseStatus.Code >= 300 || strings.Contains(event.RequestURI, "dryRun=All") {
		return writes
	}
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
	} else if len(writes) > 0 {
		w.order = writes[len(writes)-1].order
	}
	return append(writes, w)
}

// podOf is the pod that the token of a request belongs to, if it does.
func podOf(event *auditv1.Event) string {
	if pod := event.User.Extra["authentication.kubernetes.io/pod-name"]; len(pod) > 0 {
		return pod[0]
	}
	return ""
}

// resourceOf is such as "jobs.batch" or "pods/status".
func resourceOf(ref *auditv1.ObjectReference) string {
	name := ref.Resource
	if ref.APIGroup != "" {
		name += "." + ref.APIGroup
	}
	if ref.Subresource != "" {
		name += "/" + ref.Subresource
	}
	return name
}

// requireOnce fails if operators made any Job twice, or if there was not exactly this number of them.
func (s *space) requireOnce(jobs int) {
	s.Helper()
	made := map[string]int{}
	for _, w := range s.history() {
		if w.verb == "create" && w.resource == "jobs.batch" && w.byOperator() {
			made[w.name]++
		}
	}
	assert.Len(s, made, jobs)
	for name, times := range made {
		assert.Equal(s, 1, times, "Job %s was made more than once", name)
	}
}

// requireOrder fails if a Job was made before a pod of the one that it depends on had succeeded.
func (s *space) requireOrder(before, after string) {
	s.Helper()
	var made, succeeded uint64
	for _, w := range s.history() {
		switch {
		case w.resource == "jobs.batch" && w.verb == "create" && w.name == after:
			made = w.version(s)
		case w.resource == "pods/status" && w.object.Labels[batchv1.JobNameLabel] == before && w.object.Status.Phase == corev1.PodSucceeded && succeeded == 0:
			succeeded = w.version(s)
		}
	}
	require.NotZero(s, succeeded, "Job %s has not succeeded", before)
	require.NotZero(s, made, "there was no Job %s", after)
	assert.Less(s, succeeded, made, "Job %s was made before Job %s had succeeded", after, before)
}

// assertNothingForeignTouched fails if an operator wrote to an object that none has made, but for the kinds that users
// make for operators. What belongs to one of them counts as made: an API server that is killed may not have told the log.
func (s *space) assertNothingForeignTouched() {
	s.Helper()
	made := map[string]bool{}
	for _, w := range s.history() {
		resource, _, _ := strings.Cut(w.resource, "/")
		object := resource + " " + w.name
		switch {
		case !w.byOperator() || w.ours():
		case w.verb == "create" && resource == w.resource, w.object.isOwned():
			made[object] = true
		default:
			assert.True(s, made[object], "%s did a %s of %s %s, which no operator has made", w.user, w.verb, w.resource, w.name)
		}
	}
}
