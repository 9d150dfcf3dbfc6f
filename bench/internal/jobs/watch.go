package jobs

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// jobTimes says when the events of a namespace's Jobs arrived here.
type jobTimes struct {
	created, completed map[string]time.Time
	events             int
}

// watchJobs collects the events of a namespace's Jobs until so many have completed. It has begun to watch when it
// returns; the function that it returns waits for the end. Each Job that completes is handed to seen first.
func (w *world) watchJobs(ctx context.Context, namespace string, n int, seen func(*batchv1.Job)) (func() (jobTimes, error), error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	stream, err := w.stream(ctx, namespace)
	if err != nil {
		cancel()
		return nil, err
	}
	times := jobTimes{created: map[string]time.Time{}, completed: map[string]time.Time{}}
	done := make(chan error, 1)
	go func() {
		defer stream.Stop()
		for event := range stream.ResultChan() {
			job, ok := event.Object.(*batchv1.Job)
			if !ok {
				done <- fmt.Errorf("watch of the Jobs in %s: %v", namespace, event.Object)
				return
			}
			times.add(event.Type, job, seen)
			if len(times.completed) == n {
				done <- nil
				return
			}
		}
		done <- fmt.Errorf("the watch of the Jobs in %s ended when %d of %d had completed", namespace, len(times.completed), n)
	}()
	return func() (jobTimes, error) {
		defer cancel()
		err := <-done
		return times, err
	}, nil
}

// stream watches a namespace's Jobs from now on, and goes on where it was when the connection ends.
func (w *world) stream(ctx context.Context, namespace string) (watch.Interface, error) {
	jobs := w.typed.BatchV1().Jobs(namespace)
	now, err := jobs.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	return watchtools.NewRetryWatcherWithContext(ctx, now.ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return jobs.Watch(ctx, options)
		},
	})
}

func (t *jobTimes) add(kind watch.EventType, job *batchv1.Job, seen func(*batchv1.Job)) {
	now := time.Now()
	t.events++
	if kind == watch.Added {
		t.created[job.Name] = now
	}
	if _, before := t.completed[job.Name]; before || !isComplete(job) {
		return
	}
	t.completed[job.Name] = now
	if seen != nil {
		seen(job)
	}
}

func isComplete(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}

// latest is when the last of some events arrived.
func latest(times map[string]time.Time) time.Time {
	var last time.Time
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}
