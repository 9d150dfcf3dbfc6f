package builder_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

func TestChangesOfNodesRunAllPlans(t *testing.T) {
	const label = "test.armature.dev/zone"
	ours := func(node client.Object, ns string) bool { return strings.HasPrefix(node.GetName(), ns) }
	readsNodes := func(o *builder.Operator[*Widget]) {
		o.Watches(&corev1.Node{}, builder.ObservedByAll(), builder.EnqueueFor(func(before, after *corev1.Node) (bool, []types.NamespacedName) {
			return before == nil || after == nil || before.Labels[label] != after.Labels[label], nil
		}))
	}
	o := operateAs(t, readsNodes, func(owner *Widget, seen builder.View) builder.Plan[*Widget] {
		after := *owner
		after.Status.Seen = nil
		for _, node := range builder.Watched[*corev1.Node](seen) {
			if ours(node, owner.Namespace) {
				after.Status.Seen = append(after.Status.Seen, strings.TrimSpace(strings.TrimPrefix(node.Name, owner.Namespace)+" "+node.Labels[label]))
			}
		}
		return builder.Plan[*Widget]{Status: &after}
	}, &Widget{})
	second := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "second"}}
	require.NoError(t, o.live.Create(o.ctx, second))
	see := func(want ...string) {
		t.Helper()
		for _, w := range []*Widget{o.widget, second} {
			o.eventually(func() bool { return slices.Equal(o.get(w).(*Widget).Status.Seen, want) }, "%s to see %v", w.Name, want)
		}
	}
	var nodes []*corev1.Node
	for _, name := range []string{"-b", "-a"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: o.ns + name}}
		node.Spec.Unschedulable = true
		require.NoError(t, o.live.Create(o.ctx, node))
		t.Cleanup(func() {
			assert.NoError(t, client.IgnoreNotFound(o.live.Delete(context.WithoutCancel(t.Context()), node)))
		})
		nodes = append(nodes, node)
	}
	see("-a", "-b")

	change := func(change func(*corev1.Node)) {
		o.eventually(func() bool {
			node := &corev1.Node{}
			require.NoError(t, o.live.Get(o.ctx, client.ObjectKeyFromObject(nodes[0]), node))
			change(node)
			return o.live.Update(o.ctx, node) == nil
		}, "change a node")
	}
	o.settled()
	n := o.count()
	change(func(node *corev1.Node) { node.Annotations = map[string]string{"heart": "beat"} })
	o.eventually(func() bool { // the cache shows it
		node := &corev1.Node{}
		return o.cached.Get(o.ctx, client.ObjectKeyFromObject(nodes[0]), node) == nil && node.Annotations["heart"] == "beat"
	}, "the heartbeat")
	assert.LessOrEqual(t, o.count()-n, 0, "what doesn't matter causes no pass")
	change(func(node *corev1.Node) { node.Labels = map[string]string{label: "east"} })
	see("-a", "-b east")
	require.NoError(t, o.live.Delete(o.ctx, nodes[1]))
	see("-b east")
}

// podsOfJobs is an operator that sees the pods of its Jobs.
func podsOfJobs(owner *Widget, seen builder.View) builder.Plan[*Widget] {
	p := batch(owner, seen)
	p.Status.Status.Seen = nil
	for _, pod := range builder.Owned[*corev1.Pod](seen) {
		p.Status.Status.Seen = append(p.Status.Status.Seen, pod.Labels[batchv1.JobNameLabel]+pod.Labels["seen"])
	}
	slices.Sort(p.Status.Status.Seen)
	return p
}

func TestGrandchildrenRunTheirOwnersPlan(t *testing.T) {
	o := operateAs(t, func(o *builder.Operator[*Widget]) {
		o.Owns(&batchv1.Job{}, builder.Dependents(&corev1.Pod{}))
	}, podsOfJobs, &Widget{Spec: WidgetSpec{Children: []string{"a", "b"}, Source: "go"}})
	stranger := suspendedJob("stranger")
	stranger.Namespace, stranger.Spec.Suspend = o.ns, new(false)
	require.NoError(t, o.live.Create(o.ctx, stranger))
	o.eventually(o.sees("a", "b"), "the pods that the Job controller made")
	o.settled()

	pod := func(job string) *corev1.Pod {
		var list corev1.PodList
		require.NoError(t, o.live.List(o.ctx, &list, client.InNamespace(o.ns), client.MatchingLabels{batchv1.JobNameLabel: job}))
		require.NotEmpty(t, list.Items)
		return &list.Items[0]
	}
	labelled := pod("a")
	o.edit(labelled, func(pod client.Object) { pod.GetLabels()["seen"] = "x" })
	o.eventually(o.sees("ax", "b"), "a change of a pod")

	o.eventually(func() bool { return len(podsOf(o, "stranger")) == 1 }, "the stranger's pod")
	require.NoError(t, o.live.Delete(o.ctx, labelled, client.GracePeriodSeconds(0)))
	o.eventually(func() bool { // also if the Job has made another one meanwhile
		return !slices.Contains(o.get(o.widget).(*Widget).Status.Seen, "ax")
	}, "its deletion")
	assert.Len(t, podsOf(o, "stranger"), 1)
}

func podsOf(o *operated, job string) []corev1.Pod {
	var list corev1.PodList
	require.NoError(o.t, o.live.List(o.ctx, &list, client.InNamespace(o.ns), client.MatchingLabels{batchv1.JobNameLabel: job}))
	return list.Items
}
