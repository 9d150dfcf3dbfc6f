package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

// outcome is what one run took.
type outcome struct {
	created   time.Duration // until the last Job was there
	succeeded time.Duration // until all was done: the last Job, or the owner
	requests  map[string]int
	idle      map[string]int // requests in some time after the end
	events    int            // of Jobs, in all
	status    int            // the largest status of the owner, in bytes of JSON
}

// settleTime is how long it takes until the last requests of an operator's work have been made.
const settleTime = time.Second

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// template is the JobTemplate that all nodes of the flows share.
func template(namespace string, runTime time.Duration) *v1alpha1.JobTemplate {
	return &v1alpha1.JobTemplate{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shared"},
		Spec:       v1alpha1.JobTemplateSpec{JobTemplate: jobSpec(runTime)},
	}
}

// flowOf makes a flow of n nodes: dependencies names those of each.
func flowOf(namespace string, n int, dependencies func(i int) []string) *v1alpha1.JobFlow {
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "flow"}}
	for i := range n {
		flow.Spec.Flows = append(flow.Spec.Flows, v1alpha1.Flow{
			Name: strconv.Itoa(i), JobTemplateRef: "shared", Dependencies: dependencies(i),
		})
	}
	return flow
}

func independent(int) []string { return nil }

// afterTheLast makes a chain.
func afterTheLast(i int) []string {
	if i == 0 {
		return nil
	}
	return []string{strconv.Itoa(i - 1)}
}

// runOwner creates an owner of n Jobs and waits until it has succeeded.
func (w *world) runOwner(ctx context.Context, counter *lab.Requests, owner client.Object, n int) (outcome, error) {
	wait, err := w.watchJobs(ctx, owner.GetNamespace(), n, nil)
	if err != nil {
		return outcome{}, err
	}
	end, err := w.watchOwner(ctx, owner)
	if err != nil {
		return outcome{}, err
	}
	counter.Take()
	start := time.Now()
	if err := w.client.Create(ctx, owner); err != nil {
		return outcome{}, err
	}
	out, err := end()
	if err != nil {
		return out, err
	}
	out.succeeded = time.Since(start)
	times, err := wait() // a flow may succeed before the conditions of its last Jobs
	if err != nil {
		return out, err
	}
	out.created, out.events = latest(times.created).Sub(start), times.events
	pause(ctx, settleTime) // the last event is written after the status that tells of the end
	out.requests = counter.Take()
	pause(ctx, w.idleTime)
	out.idle = counter.Take()
	return out, ctx.Err()
}

// watchOwner begins to watch an owner's kind; the function that it returns waits until the owner has succeeded.
func (w *world) watchOwner(ctx context.Context, owner client.Object) (func() (outcome, error), error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	var list client.ObjectList = &v1alpha1.JobFlowList{}
	if _, ok := owner.(*v1alpha1.DaemonJob); ok {
		list = &v1alpha1.DaemonJobList{}
	}
	stream, err := lab.Watch(ctx, w.client, list, owner.GetNamespace())
	if err != nil {
		cancel()
		return nil, err
	}
	return func() (outcome, error) {
		defer cancel()
		defer stream.Stop()
		var out outcome
		for event := range stream.ResultChan() {
			state, size, err := stateOf(event.Object)
			if err != nil {
				return out, err
			}
			out.status = max(out.status, size)
			switch state {
			case v1alpha1.StateSucceed:
				return out, nil
			case v1alpha1.StateFailed:
				return out, fmt.Errorf("%s failed", owner.GetName())
			}
		}
		return out, fmt.Errorf("the watch of %s ended before it did", owner.GetName())
	}, nil
}

func stateOf(obj any) (v1alpha1.State, int, error) {
	var state v1alpha1.State
	var status any
	switch o := obj.(type) {
	case *v1alpha1.JobFlow:
		state, status = o.Status.State, o.Status
	case *v1alpha1.DaemonJob:
		state, status = o.Status.State, o.Status
	default:
		return "", 0, fmt.Errorf("unexpected: %v", obj)
	}
	data, err := json.Marshal(status)
	return state, len(data), err
}

// daemonJob runs a Job on each node.
func daemonJob(namespace string, spec batchv1.JobSpec) *v1alpha1.DaemonJob {
	return &v1alpha1.DaemonJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "daemon"},
		Spec:       v1alpha1.DaemonJobSpec{Template: spec.Template},
	}
}
