package builder_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

// suspendedJob is a Job that makes no pods before it is resumed.
func suspendedJob(name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{Suspend: new(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "busybox:1.28"}},
			NodeSelector: map[string]string{"example.com/no": "node"},
		}}},
	}
}

// batch is an operator with a Job for each child, which runs once the widget's source is "go".
func batch(owner *Widget, seen builder.View) builder.Plan[*Widget] {
	after := *owner
	after.Status.Seen = nil
	p := builder.Plan[*Widget]{Status: &after, Prune: []client.Object{&batchv1.Job{}}}
	for _, name := range owner.Spec.Children {
		p.Children = append(p.Children, builder.Want(suspendedJob(name), builder.CreateOnly(), builder.Adopt(builder.AdoptOptions{})))
	}
	for _, job := range builder.Owned[*batchv1.Job](seen) {
		after.Status.Seen = append(after.Status.Seen, job.Name)
		if changed := job.DeepCopy(); owner.Spec.Source == "go" {
			changed.Spec.Suspend = new(false)
			p.Edits = append(p.Edits, builder.Edit{Before: job, After: changed})
		}
	}
	return p
}

func ownsJobs(o *builder.Operator[*Widget]) { o.Owns(&batchv1.Job{}) }

func (o *operated) sees(names ...string) func() bool {
	return func() bool { return slices.Equal(o.get(o.widget).(*Widget).Status.Seen, names) }
}

func TestJobsThatAreCreatedOnce(t *testing.T) {
	o := operateAs(t, ownsJobs, batch, &Widget{})
	orphan := suspendedJob("orphan")
	orphan.Namespace, orphan.Labels = o.ns, map[string]string{"theirs": "yes"}
	require.NoError(t, o.live.Create(o.ctx, orphan))
	o.settle(orphan)
	o.change(func(w *Widget) { w.Spec.Children = []string{"a", "b", "orphan"} })
	o.eventually(o.sees("a", "b", "orphan"), "the Jobs")
	o.settled()

	a := o.get(suspendedJob("a")).(*batchv1.Job)
	assert.True(t, metav1.IsControlledBy(a, o.get(o.widget)))
	assert.Equal(t, wellknown.ManagedBy, a.Labels[wellknown.LabelManagedBy])
	assert.NotContains(t, a.Annotations, wellknown.AnnotationDigest)
	adopted := o.get(orphan).(*batchv1.Job)
	assert.True(t, metav1.IsControlledBy(adopted, o.get(o.widget)))
	orphan.Labels[wellknown.LabelManagedBy] = wellknown.ManagedBy
	assert.Equal(t, orphan.Labels, adopted.Labels, "nothing else has changed")
	assert.Equal(t, orphan.Spec, adopted.Spec)

	o.edit(a, func(job client.Object) { job.(*batchv1.Job).Spec.Parallelism = ptr.To[int32](3) })
	o.settled()
	assert.EqualValues(t, 3, *o.get(a).(*batchv1.Job).Spec.Parallelism, "what someone changes stays")

	require.NoError(t, o.live.Delete(o.ctx, a, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	o.eventually(func() bool { return o.exists(a) && o.get(a).GetUID() != a.UID }, "it to be made anew")
	o.change(func(w *Widget) { w.Spec.Children = []string{"b"} })
	o.eventually(o.sees("b"), "the others to be pruned")
	o.settled()
}

func TestEditsOfJobs(t *testing.T) {
	o := operateAs(t, ownsJobs, batch, &Widget{Spec: WidgetSpec{Children: []string{"a", "b"}}})
	o.eventually(o.sees("a", "b"), "the Jobs")
	before := o.get(suspendedJob("a")).(*batchv1.Job)
	o.change(func(w *Widget) { w.Spec.Source = "go" })
	for _, name := range []string{"a", "b"} {
		o.eventually(func() bool { return !*o.get(suspendedJob(name)).(*batchv1.Job).Spec.Suspend }, "%s to be resumed", name)
	}
	o.settled()
	after := o.get(before).(*batchv1.Job)
	after.Spec.Suspend = before.Spec.Suspend
	assert.Equal(t, before.Spec, after.Spec, "nothing else has changed")
	o.eventually(func() bool { return o.heard(events.ReasonUpdated) >= 1 }, "the event")
}

func TestOwnersThatDeleteThemselves(t *testing.T) {
	var o *operated
	ready := make(chan struct{})
	o = operateLater(t, func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		<-ready
		after := *owner
		after.Status.Source = "done"
		p := builder.Plan[*Widget]{Status: &after, Children: []builder.Child{builder.Want(configMap("c"))}}
		left := owner.CreationTimestamp.Add(2 * time.Second).Sub(seen.Now)
		p.DeleteOwner, p.RequeueAfter = left <= 0, left
		return p
	}, ready)
	o.eventually(func() bool { return o.sent.count("POST", "/configmaps") == 1 }, "the child")
	o.eventually(func() bool { return !o.exists(o.widget) }, "the owner to go")
	// The garbage collector looks for new kinds every 30 seconds, so the child may be there still. It isn't an orphan.
	c := configMap("c")
	if err := o.live.Get(o.ctx, client.ObjectKey{Namespace: o.ns, Name: "c"}, c); !apierrors.IsNotFound(err) {
		require.NoError(t, err)
		assert.True(t, metav1.IsControlledBy(c, o.widget))
	}
	assert.Equal(t, 1, o.sent.count("DELETE", "/widgets/"))
}

func TestStatusThatCanWait(t *testing.T) {
	const wait = 2 * time.Second
	counting := func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		p := plan(owner, seen)
		if len(owner.Status.Seen) > 0 {
			p.StatusCanWait = wait
		}
		return p
	}
	names := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	o := operate(t, counting, &Widget{Spec: WidgetSpec{Children: names[:1]}})
	o.eventually(o.sees("a"), "the first status")
	// A write meets the next change of the spec, if the process is slow. That is a conflict, and the next pass tries again.
	written := func() int { return o.sent.count("PATCH", "/status") - o.sent.conflicts("PATCH", "/status") }
	began, before := time.Now(), written()
	for i := 2; i <= len(names); i++ {
		n := o.count()
		o.change(func(w *Widget) { w.Spec.Children = names[:i] })
		o.eventually(func() bool { return o.count() > n }, "a pass")
	}
	o.eventually(o.sees(names...), "the last status")
	most := int(time.Since(began)/wait) + 1
	assert.LessOrEqual(t, written()-before, most, "of %d changes", len(names))
	o.settled()
}
