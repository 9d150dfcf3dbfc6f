package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/internal/wellknown"
)

// maxRuns limits the runs of a record: each has about 200 bytes, and annotations may have 256 KiB.
const maxRuns = 100

// Runs is the record of the values for which a RunOnce child has run.
type Runs struct {
	Child string `json:"child"`
	Runs  []Run  `json:"runs"`

	Object client.Object `json:"-"` // the ControllerRevision; nil if there is none yet
	Damage error         `json:"-"` // why the annotation can't be read; nil if it can
}

// Run is a run that succeeded.
type Run struct {
	ID         string      `json:"id"`
	Value      string      `json:"value"`
	Job        string      `json:"job"`
	FinishedAt metav1.Time `json:"finishedAt"`
}

// Mark identifies the child and the value of a Job.
type Mark struct {
	Child string `json:"child"`
	Value string `json:"value"`
	ID    string `json:"id"`
}

// runsData is the data of the ControllerRevision of a record, which is immutable.
type runsData struct {
	RunOnce string `json:"runOnce"` // the child
}

// RunsData returns the data of the ControllerRevision of a child's record.
func RunsData(child string) ([]byte, error) { return json.Marshal(runsData{child}) }

// RunsName returns the name of a child's record. It doesn't contain the controller's name, because a renamed controller must not
// repeat recorded runs.
func RunsName(owner client.Object, child string) string {
	sum := sha256.Sum256([]byte("run-once " + string(owner.GetUID()) + " " + child))
	return Name(owner.GetName()+"-"+child, hex.EncodeToString(sum[:6]))
}

// ReadRuns returns the record in an object; nil if it has none. Its data, which is immutable, decides that, so that a record with a
// damaged annotation remains a record.
func ReadRuns(obj client.Object) *Runs {
	var data runsData
	revision, ok := obj.(*appsv1.ControllerRevision)
	if !ok || json.Unmarshal(revision.Data.Raw, &data) != nil || data.RunOnce == "" {
		return nil
	}
	r := &Runs{}
	err := json.Unmarshal([]byte(obj.GetAnnotations()[wellknown.AnnotationRunOnce]), r)
	if err == nil && r.Child != data.RunOnce {
		err = fmt.Errorf("child is %q; want %q", r.Child, data.RunOnce)
	}
	r.Child, r.Object, r.Damage = data.RunOnce, obj, err
	return r
}

// Find returns the run of an ID; nil if it isn't recorded. A nil record has none.
func (r *Runs) Find(id string) *Run {
	if r == nil {
		return nil
	}
	for i := range r.Runs {
		if r.Runs[i].ID == id {
			return &r.Runs[i]
		}
	}
	return nil
}

// Add returns the record of a child with further runs. It drops the oldest. A nil record has none.
func (r *Runs) Add(child string, succeeded []Run) *Runs {
	next := &Runs{Child: child}
	if r != nil {
		next.Runs = slices.Clone(r.Runs)
	}
	next.Runs = append(next.Runs, succeeded...)
	next.Runs = next.Runs[max(0, len(next.Runs)-maxRuns):]
	return next
}

// Text returns the value of AnnotationRunOnce.
func (r *Runs) Text() (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// RunID identifies a child and a value.
func RunID(child, value string) string {
	sum := sha256.Sum256([]byte(child + "\n" + value))
	return hex.EncodeToString(sum[:5])
}

// JobName returns the name of the Job of a run.
func JobName(child, id string) string {
	const longest = 63 // of a Job, whose name becomes a label of its pods
	return trim(child, longest-1-len(id)) + "-" + id
}

// Text returns the value of AnnotationRunOnce of a Job.
func (m Mark) Text() (string, error) {
	text, err := json.Marshal(m)
	return string(text), err
}

// ReadMark returns the mark of a Job; false if it has none.
func ReadMark(job *batchv1.Job) (mark Mark, ok bool) {
	err := json.Unmarshal([]byte(job.Annotations[wellknown.AnnotationRunOnce]), &mark)
	return mark, err == nil
}

// IsRunning reports whether a Job may have pods: until it is Complete or Failed. The conditions FailureTarget and
// SuccessCriteriaMet come while the pods still terminate.
func IsRunning(job *batchv1.Job) bool {
	return !slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}
