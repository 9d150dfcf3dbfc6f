package refusal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func after(seconds int) time.Time { return epoch.Add(time.Duration(seconds) * time.Second) }

// makeJob returns a Job that started at the epoch and has no pod.
func makeJob(change ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "j", UID: "j-uid"}}
	j.Status.StartTime = new(metav1.NewTime(epoch))
	for _, f := range change {
		f(j)
	}
	return j
}

// events answers lists of events, and counts them.
type events struct {
	client.Reader
	asked int
	items []eventsv1.Event
	err   error
}

func (e *events) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	e.asked++
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.Namespace != "team" || o.Limit != maxEvents || o.FieldSelector.String() != "reason=FailedCreate,regarding.kind=Job" {
		return fmt.Errorf("unexpected list: %+v", o)
	}
	list.(*eventsv1.EventList).Items = e.items
	return e.err
}

func failedCreate(uid, note string, second int) eventsv1.Event {
	return eventsv1.Event{
		Regarding: corev1.ObjectReference{Kind: "Job", UID: types.UID(uid)}, Reason: "FailedCreate", Note: note,
		DeprecatedLastTimestamp: metav1.NewTime(after(second)),
	}
}

const refused = `Error creating: pods "j-x7x2k" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`

// reason returns what a plan gets about a Job.
func reason(t *testing.T, c *cache, job *batchv1.Job, now time.Time) (string, time.Duration) {
	t.Helper()
	view := buildertest.NewView(now, job)
	found := c.find(t.Context(), "team", view)
	r := Of(buildertest.WithExternal(view, found))
	return r.Reason(job), r.RequeueAfter()
}

func TestWhyAJobHasNoPods(t *testing.T) {
	e := &events{items: []eventsv1.Event{
		failedCreate("other-uid", "Error creating: other", 9),
		failedCreate("j-uid", refused, 3), failedCreate("j-uid", "Error creating: an older one", 1),
	}}
	c := newCache(e)
	said, again := reason(t, c, makeJob(), after(4))
	assert.Empty(t, said, "it may be about to have one")
	assert.Equal(t, time.Second, again)
	assert.Zero(t, e.asked)

	said, again = reason(t, c, makeJob(), after(5))
	assert.Equal(t, `violates PodSecurity "restricted:latest": runAsNonRoot != true`, said, "without the name of the pod, another one each time")
	assert.Equal(t, 5*time.Second, again)
	said, again = reason(t, c, makeJob(), after(14))
	assert.NotEmpty(t, said)
	assert.Equal(t, 6*time.Second, again)
	assert.Equal(t, 1, e.asked, "once in a while for all Jobs of a namespace")

	e.items = nil
	said, _ = reason(t, c, makeJob(), after(20))
	assert.Empty(t, said)
	_, again = reason(t, c, makeJob(), after(10000))
	assert.Equal(t, 3, e.asked)
	assert.LessOrEqual(t, again, maxDelay)

	e.items, e.err = []eventsv1.Event{failedCreate("j-uid", "no", 1)}, errors.New("forbidden")
	said, _ = reason(t, c, makeJob(), after(20000))
	assert.Empty(t, said, "an error is no reason not to go on")
	_, _ = reason(t, c, makeJob(), after(20001))
	assert.Equal(t, 4, e.asked, "nor one to ask all the time")
}

func TestOnlyJobsWithoutPodsAreAskedAbout(t *testing.T) {
	for name, change := range map[string]func(*batchv1.Job){
		"active":      func(j *batchv1.Job) { j.Status.Active = 1 },
		"succeeded":   func(j *batchv1.Job) { j.Status.Succeeded = 1 },
		"failed":      func(j *batchv1.Job) { j.Status.Failed = 1 },
		"terminating": func(j *batchv1.Job) { j.Status.Terminating = ptr.To[int32](1) },
		"suspended":   func(j *batchv1.Job) { j.Spec.Suspend = new(true) },
		"no pods":     func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) },
		"not started": func(j *batchv1.Job) { j.Status.StartTime = nil },
		"ended":       func(j *batchv1.Job) { j.Status.CompletionTime = j.Status.StartTime },
		"ending":      func(j *batchv1.Job) { setCondition(j, batchv1.JobFailureTarget, corev1.ConditionTrue) },
		"resuming":    func(j *batchv1.Job) { setCondition(j, batchv1.JobSuspended, corev1.ConditionTrue) },
		"deleted":     func(j *batchv1.Job) { j.DeletionTimestamp = j.Status.StartTime },
	} {
		t.Run(name, func(t *testing.T) {
			e := &events{items: []eventsv1.Event{failedCreate("j-uid", refused, 3)}}
			said, again := reason(t, newCache(e), makeJob(change), after(60))
			assert.Empty(t, said)
			assert.Zero(t, again)
			assert.Zero(t, e.asked)
		})
	}
}

func setCondition(j *batchv1.Job, kind batchv1.JobConditionType, status corev1.ConditionStatus) {
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: kind, Status: status})
}

// A Job that was suspended before, as each one that Kueue starts, keeps the condition Suspended.
func TestWhyAResumedJobHasNoPods(t *testing.T) {
	e := &events{items: []eventsv1.Event{failedCreate("j-uid", refused, 3)}}
	job := makeJob(func(j *batchv1.Job) { setCondition(j, batchv1.JobSuspended, corev1.ConditionFalse) })
	said, again := reason(t, newCache(e), job, after(60))
	assert.Contains(t, said, "violates PodSecurity")
	assert.NotZero(t, again)
}

func TestReasonsAreBounded(t *testing.T) {
	e := &events{items: []eventsv1.Event{failedCreate("j-uid", strings.Repeat("x", 10000), 3)}}
	said, _ := reason(t, newCache(e), makeJob(), after(60))
	assert.NotEmpty(t, said)
	assert.LessOrEqual(t, len(said), maxReason)
}
