package revision

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/internal/wellknown"
)

// historyLimit is the number of completed revisions that are retained.
const historyLimit = 2

// Record is the state of a roll-out that must survive a restart.
type Record struct {
	Controller string        `json:"controller"` // the engine's name: two can work for one owner
	State      rollout.State `json:"state"`
	StartedAt  *metav1.Time  `json:"startedAt,omitempty"`
	FinishedAt *metav1.Time  `json:"finishedAt,omitempty"`
	// Phase is the furthest reached phase that was not ready, PhaseSince when that was first observed. They are recorded only with a
	// limit in the options.
	Phase      string       `json:"phase,omitempty"`
	PhaseSince *metav1.Time `json:"phaseSince,omitempty"`
	Message    string       `json:"why,omitempty"` // the cause of the rollback
}

// ReadRecord returns the record of a ControllerRevision; false if it isn't one of this controller.
func ReadRecord(obj client.Object, controller string) (record Record, ok bool) {
	err := json.Unmarshal([]byte(obj.GetAnnotations()[wellknown.AnnotationRollout]), &record)
	return record, err == nil && record.Controller == controller
}

// Text returns the value of the annotation wellknown.AnnotationRollout.
func (r Record) Text() (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// Reach returns the record of a roll-out that has reached a phase, and whether the record has changed. The time of a phase starts
// once: it doesn't start again when an earlier phase is no longer ready.
func (r Record) Reach(phase string, phases []string, now *metav1.Time) (Record, bool) {
	if r.PhaseSince != nil && slices.Index(phases, r.Phase) >= slices.Index(phases, phase) {
		return r, false
	}
	r.Phase, r.PhaseSince = phase, now
	return r, true
}

// Started returns when the roll-out began; zero if that isn't recorded.
func (r Record) Started() time.Time { return ptr.Deref(r.StartedAt, metav1.Time{}).Time }

// Finished returns when the roll-out was completed or rolled back; zero before.
func (r Record) Finished() time.Time { return ptr.Deref(r.FinishedAt, metav1.Time{}).Time }

// Revision is a ControllerRevision with its record. The cache shares the object: read only.
type Revision struct {
	Object *appsv1.ControllerRevision
	Record Record
}

// Name returns the object's name, empty for nil.
func (r *Revision) Name() string {
	if r == nil {
		return ""
	}
	return r.Object.Name
}

// State returns the state of the roll-out, empty for nil.
func (r *Revision) State() rollout.State {
	if r == nil {
		return ""
	}
	return r.Record.State
}

// History has the revisions of an owner, oldest first.
type History []*Revision

// HistoryOf returns the history of the given revisions.
func HistoryOf(revisions []*Revision) History {
	h := slices.Clone(revisions)
	slices.SortFunc(h, func(a, b *Revision) int {
		return cmp.Or(cmp.Compare(a.Object.Revision, b.Object.Revision), strings.Compare(a.Name(), b.Name()))
	})
	return h
}

// Select returns the last completed revision and the target, the revision of that name; nil is none. A revision counts as completed if
// its record says so and the owner's status names it (completed; nil: the status has no such record). The target is exempt from that,
// because the status is written after the revision.
func (h History) Select(name string, completed *string) (last, target *Revision) {
	for _, rev := range h {
		if rev.State() == rollout.Completed && (completed == nil || rev.Name() == *completed || rev.Name() == name) {
			last = rev
		}
		if rev.Name() == name {
			target = rev
		}
	}
	return last, target
}

// IsInstalled reports whether a revision is completed by its own record, whatever the owner's status says.
func (h History) IsInstalled() bool {
	return slices.ContainsFunc(h, func(rev *Revision) bool { return rev.State() == rollout.Completed })
}

// Next returns the number of a revision that is newer than all others.
func (h History) Next() int64 {
	if len(h) == 0 {
		return 1
	}
	return h[len(h)-1].Object.Revision + 1
}

// Truncate splits a history into the retained and the stale revisions, newest first. It retains the target, the last completed
// revision and the newest completed ones. A revision that was rolled back is stale when it is no longer the target, so that it can be
// rolled out again.
func (h History) Truncate(last, target *Revision) (retained History, stale []*Revision) {
	completed := 0
	for _, rev := range slices.Backward(h) {
		retain := rev == target
		if rev.State() == rollout.Completed {
			completed++
			retain = retain || completed <= historyLimit || rev == last
		}
		if retain {
			retained = append(retained, rev)
		} else {
			stale = append(stale, rev)
		}
	}
	slices.Reverse(retained)
	return retained, stale
}

// Name returns the name of a revision of an owner: <owner>-<hash>.
func Name(owner, hash string) string {
	const longest = 253
	return trim(owner, longest-1-len(hash)) + "-" + hash
}

// trim cuts a name to a length, so that it can be followed by a hyphen.
func trim(name string, length int) string {
	if len(name) <= length {
		return name
	}
	return strings.TrimRight(name[:length], "-.")
}

// hashIn returns the hash in the name of a revision.
func hashIn(name string) string { return name[strings.LastIndexByte(name, '-')+1:] }

// StatusOf returns the state of the roll-out that ControllerRevisions record, and false if none was ever completed.
func StatusOf(revisions []*appsv1.ControllerRevision) (rollout.Status, bool) {
	var all, completed History
	for _, rev := range revisions {
		var record Record
		if json.Unmarshal([]byte(rev.Annotations[wellknown.AnnotationRollout]), &record) == nil { // otherwise it isn't of a roll-out
			all = append(all, &Revision{rev, record})
		}
	}
	all = HistoryOf(all)
	for _, rev := range all {
		if rev.State() == rollout.Completed {
			completed = append(completed, rev)
		}
	}
	if len(completed) == 0 {
		return rollout.Status{}, false
	}
	newest := all[len(all)-1]
	s := rollout.Status{
		State: newest.State(), From: completed[len(completed)-1].Name(), To: newest.Name(), Phase: newest.Record.Phase,
		Message: newest.Record.Message, StartedAt: newest.Record.Started(), FinishedAt: newest.Record.Finished(),
	}
	if len(completed) > 1 {
		s.Before = completed[len(completed)-2].Name()
	}
	return s, true
}
