package jobs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

// pair is what the bare client and the operator took in one turn.
type pair struct{ bare, ours outcome }

// inTurns lets both run in a namespace of their own; who begins alternates with the turn.
func (w *world) inTurns(ctx context.Context, turn int, bare, ours func(namespace string) (outcome, error)) (pair, error) {
	var p pair
	runs := []struct {
		name string
		run  func(string) (outcome, error)
		to   *outcome
	}{{"bare", bare, &p.bare}, {"ours", ours, &p.ours}}
	if turn%2 == 1 {
		slices.Reverse(runs)
	}
	for _, r := range runs {
		namespace, err := w.namespace(ctx, r.name)
		if err != nil {
			return p, err
		}
		if *r.to, err = r.run(namespace); err != nil {
			return p, fmt.Errorf("%s: %w", r.name, err)
		}
		if err := w.clear(ctx, namespace); err != nil {
			return p, err
		}
	}
	return p, nil
}

// wide runs n Jobs that depend on nothing.
func (w *world) wide(ctx context.Context, counter *lab.Requests, turn, n int) (pair, error) {
	return w.inTurns(ctx, turn, func(namespace string) (outcome, error) {
		return w.runBare(ctx, namespace, bareJobs(namespace, n, jobSpec(time.Second)))
	}, func(namespace string) (outcome, error) {
		if err := w.client.Create(ctx, template(namespace, time.Second)); err != nil {
			return outcome{}, err
		}
		return w.runOwner(ctx, counter, flowOf(namespace, n, independent), n)
	})
}

// chain runs n Jobs, each after the last, that succeed at once.
func (w *world) chain(ctx context.Context, counter *lab.Requests, turn, n int, end v1alpha1.EndOfJob) (pair, error) {
	return w.inTurns(ctx, turn, func(namespace string) (outcome, error) {
		return w.runBareChain(ctx, namespace, bareJobs(namespace, n, jobSpec(0)))
	}, func(namespace string) (outcome, error) {
		if err := w.client.Create(ctx, template(namespace, 0)); err != nil {
			return outcome{}, err
		}
		flow := flowOf(namespace, n, afterTheLast)
		flow.Spec.EndOfJob = end
		return w.runOwner(ctx, counter, flow, n)
	})
}

// daemon runs a Job on each node.
func (w *world) daemon(ctx context.Context, counter *lab.Requests, turn int) (pair, error) {
	nodes, err := w.typed.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return pair{}, err
	}
	n := len(nodes.Items)
	return w.inTurns(ctx, turn, func(namespace string) (outcome, error) {
		jobs := bareJobs(namespace, n, jobSpec(time.Second))
		for i := range jobs {
			place(jobs[i], nodes.Items[i].Name)
		}
		return w.runBare(ctx, namespace, jobs)
	}, func(namespace string) (outcome, error) {
		return w.runOwner(ctx, counter, daemonJob(namespace, jobSpec(time.Second)), n)
	})
}

// place lets the scheduler put a Job's pod on a node.
func place(job *batchv1.Job, node string) {
	job.Spec.Template.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}}},
		}}},
	}}
}

// big runs a flow of n nodes in four layers, each node after one of the layer before, and returns the largest heap
// that was in use in this process, in bytes.
func (w *world) big(ctx context.Context, counter *lab.Requests, n int) (outcome, uint64, error) {
	namespace, err := w.namespace(ctx, "big")
	if err != nil {
		return outcome{}, 0, err
	}
	if err := w.client.Create(ctx, template(namespace, time.Second)); err != nil {
		return outcome{}, 0, err
	}
	layer := n / 4
	flow := flowOf(namespace, n, func(i int) []string {
		if i < layer {
			return nil
		}
		return []string{strconv.Itoa(i - layer)}
	})
	heap := lab.WatchHeap(ctx)
	out, err := w.runOwner(ctx, counter, flow, n)
	if err != nil {
		return out, 0, err
	}
	return out, heap(), nil // the last of all: the cluster goes with what is left
}
