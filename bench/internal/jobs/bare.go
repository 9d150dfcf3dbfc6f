package jobs

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// parallelism is how many requests the bare client has under way, as many as a Builder.
const parallelism = 32

// jobSpec is a Job whose pod runs so long on a simulated node.
func jobSpec(runTime time.Duration) batchv1.JobSpec {
	return batchv1.JobSpec{
		BackoffLimit: ptr.To[int32](0),
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"devcluster.armature.dev/run-time": runTime.String()}},
			Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "main", Image: "busybox:1.28", Command: []string{"true"}}},
			},
		},
	}
}

// bareJobs are the Jobs that a bare client makes.
func bareJobs(namespace string, n int, spec batchv1.JobSpec) []*batchv1.Job {
	jobs := make([]*batchv1.Job, n)
	for i := range jobs {
		jobs[i] = &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "bare-" + strconv.Itoa(i), Labels: map[string]string{"bench": "bare"}},
			Spec:       *spec.DeepCopy(),
		}
	}
	return jobs
}

// create makes Jobs as fast as it goes.
func (w *world) create(ctx context.Context, jobs []*batchv1.Job) error {
	next := make(chan *batchv1.Job)
	errs := make([]error, parallelism)
	var wg sync.WaitGroup
	for i := range parallelism {
		wg.Go(func() {
			for job := range next {
				_, err := w.typed.BatchV1().Jobs(job.Namespace).Create(ctx, job, metav1.CreateOptions{})
				errs[i] = errors.Join(errs[i], err)
			}
		})
	}
	for _, job := range jobs {
		next <- job
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// runBare makes Jobs and waits until they have completed.
func (w *world) runBare(ctx context.Context, namespace string, jobs []*batchv1.Job) (outcome, error) {
	wait, err := w.watchJobs(ctx, namespace, len(jobs), nil)
	if err != nil {
		return outcome{}, err
	}
	start := time.Now()
	if err := w.create(ctx, jobs); err != nil {
		return outcome{}, err
	}
	times, err := wait()
	return outcome{created: latest(times.created).Sub(start), succeeded: latest(times.completed).Sub(start)}, err
}

// runBareChain makes a Job, and the next when it has completed.
func (w *world) runBareChain(ctx context.Context, namespace string, jobs []*batchv1.Job) (outcome, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := 1
	wait, err := w.watchJobs(ctx, namespace, len(jobs), func(*batchv1.Job) {
		if next < len(jobs) {
			if err := w.create(ctx, jobs[next:next+1]); err != nil {
				cancel(err)
			}
			next++
		}
	})
	if err != nil {
		return outcome{}, err
	}
	start := time.Now()
	if err := w.create(ctx, jobs[:1]); err != nil {
		return outcome{}, err
	}
	times, err := wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	return outcome{created: latest(times.created).Sub(start), succeeded: latest(times.completed).Sub(start)}, err
}
