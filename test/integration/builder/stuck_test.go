package builder_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// databasePlan wants a StatefulSet of two replicas whose pods come one after the other, in a phase, of the image that
// the widget's data names.
func databasePlan(owner *Widget, _ builder.View) builder.Plan[*Widget] {
	labels := map[string]string{"app": "controller"}
	command := map[bool]string{true: "exit 1", false: "sleep 1000"}[owner.Spec.Data["image"] == "bad"] // for clusters with nodes
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](2), ServiceName: "db", Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				TerminationGracePeriodSeconds: ptr.To[int64](0),
				Containers:                    []corev1.Container{{Name: "main", Image: "example.com/db:" + owner.Spec.Data["image"], Command: []string{"sh", "-c", command}}},
			}},
		},
	}
	p := builder.Plan[*Widget]{
		Rollout: rollout.Options{Phases: []string{"data"}}, Report: true,
		Children: []builder.Child{builder.Want(set, builder.InPhase("data"))},
	}
	if owner.Spec.Data["impatient"] != "" {
		p.Rollout.RollbackAfter = time.Second
	}
	return p
}

// database is an operated widget with a StatefulSet.
type database struct{ *phased }

func operateDatabase(t *testing.T) *database {
	d := &database{&phased{operateAs(t, func(o *builder.Operator[*Widget]) { o.Owns(&appsv1.StatefulSet{}) }, databasePlan,
		&Widget{Spec: WidgetSpec{Data: map[string]string{"image": "v1"}}})}}
	d.until(events.ReasonReady, "controller")
	return d
}

// pods lists the images of the pods that run and are ready; a * marks one that isn't.
func (d *database) pods() string {
	var list corev1.PodList
	require.NoError(d.t, d.live.List(d.ctx, &list, client.InNamespace(d.ns)))
	found := []string{"-", "-"}
	for _, pod := range list.Items {
		_, image, _ := strings.Cut(pod.Spec.Containers[0].Image, ":")
		ready := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
		})
		if !ready || pod.DeletionTimestamp != nil {
			image += "*"
		}
		found[int(pod.Name[len(pod.Name)-1]-'0')] = image
	}
	return strings.Join(found, " ")
}

// A StatefulSet with podManagementPolicy OrderedReady, the default, never replaces a pod that doesn't become ready, not
// even by one of an older revision.
func TestARollbackGetsPastAStatefulSetsBrokenPod(t *testing.T) {
	d := operateDatabase(t)
	d.want(map[string]string{"impatient": "yes", "image": "bad"})
	d.until(events.ReasonRolledBack, "controller")
	d.eventually(func() bool { d.run("controller"); return d.pods() == "v1 v1" }, "both pods as before, are %s", d.pods())
	d.eventually(func() bool {
		d.run("controller")
		return d.condition(events.ConditionProgressing).Status == metav1.ConditionFalse
	}, "the end of it")
	d.settled()
	assert.Equal(t, "v1 v1", d.pods())
}

// The same without a rollback: someone mends the spec.
func TestAnUpgradeGetsPastAStatefulSetsBrokenPod(t *testing.T) {
	d := operateDatabase(t)
	d.want(map[string]string{"image": "bad"})
	d.eventually(func() bool { d.run("controller"); return strings.HasSuffix(d.pods(), "bad*") }, "the broken pod")
	d.want(map[string]string{"image": "v2"})
	d.until(events.ReasonReady, "controller")
	d.eventually(func() bool { return d.pods() == "v2 v2" }, "both pods")

	d.want(map[string]string{"image": "bad"})
	d.eventually(func() bool { d.run("controller"); return strings.HasSuffix(d.pods(), "bad*") }, "the broken pod")
	d.want(map[string]string{"image": "v2"})
	d.until(events.ReasonReady, "controller")
	d.eventually(func() bool { return d.pods() == "v2 v2" }, "what was before")
}
