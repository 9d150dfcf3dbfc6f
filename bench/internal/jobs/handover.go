package jobs

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/bench/internal/lab"
)

const (
	// chains is how many chains run at once where handovers are measured.
	chains = 10
	// apart is how long after each other they begin. The Job controller tells of a Job's end about a second after its
	// pod's: chains that begin together end their Jobs together, and what is measured is how fast Jobs are created.
	apart = time.Second / chains
)

// handovers are how long Jobs of chains took, each from the event that a Job is complete to the event that the next one
// is created, in milliseconds. A negative time is of a Job that was created before that.
type handovers struct {
	bare    []float64
	waiting []float64 // for the Jobs' conditions
	early   []float64 // as soon as the pods tell
}

// handover runs chains of n Jobs side by side.
func (w *world) handover(ctx context.Context, counter *lab.Requests, turn, n int) (h handovers, err error) {
	ours := func(end v1alpha1.EndOfJob, to *[]float64) func(string) (outcome, error) {
		return func(namespace string) (outcome, error) {
			*to, err = w.handoverOurs(ctx, namespace, n, end)
			counter.Take()
			return outcome{}, err
		}
	}
	bare := func(namespace string) (outcome, error) {
		h.bare, err = w.handoverBare(ctx, namespace, n)
		return outcome{}, err
	}
	if _, err = w.inTurns(ctx, turn, bare, ours(v1alpha1.EndOfJobCondition, &h.waiting)); err != nil {
		return h, err
	}
	namespace, err := w.namespace(ctx, "early")
	if err != nil {
		return h, err
	}
	if _, err = ours(v1alpha1.EndOfJobPods, &h.early)(namespace); err != nil {
		return h, err
	}
	return h, w.clear(ctx, namespace)
}

// add puts the times of another turn to these.
func (h *handovers) add(o handovers) {
	h.bare, h.waiting, h.early = append(h.bare, o.bare...), append(h.waiting, o.waiting...), append(h.early, o.early...)
}

// jobOfChain names a Job as JobFlow does.
func jobOfChain(chain, i int) string { return chainName(chain) + "-" + strconv.Itoa(i) }

func chainName(chain int) string { return "chain" + strconv.Itoa(chain) }

func (w *world) handoverBare(ctx context.Context, namespace string, n int) ([]float64, error) {
	next := map[string]*batchv1.Job{} // by the name of the Job before
	var first []*batchv1.Job
	for c := range chains {
		for i := range n {
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: jobOfChain(c, i)}, Spec: jobSpec(0)}
			if i == 0 {
				first = append(first, job)
			} else {
				next[jobOfChain(c, i-1)] = job
			}
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var creating sync.WaitGroup
	wait, err := w.watchJobs(ctx, namespace, chains*n, func(done *batchv1.Job) {
		if job := next[done.Name]; job != nil {
			creating.Go(func() {
				if err := w.create(ctx, []*batchv1.Job{job}); err != nil {
					cancel(err)
				}
			})
		}
	})
	if err != nil {
		return nil, err
	}
	for _, job := range first {
		if err := w.create(ctx, []*batchv1.Job{job}); err != nil {
			return nil, err
		}
		pause(ctx, apart)
	}
	times, err := wait()
	creating.Wait()
	if err := errors.Join(err, context.Cause(ctx)); err != nil {
		return nil, err
	}
	return hops(times, n)
}

func (w *world) handoverOurs(ctx context.Context, namespace string, n int, end v1alpha1.EndOfJob) ([]float64, error) {
	if err := w.client.Create(ctx, template(namespace, 0)); err != nil {
		return nil, err
	}
	wait, err := w.watchJobs(ctx, namespace, chains*n, nil)
	if err != nil {
		return nil, err
	}
	for c := range chains {
		flow := flowOf(namespace, n, afterTheLast)
		flow.Name, flow.Spec.EndOfJob = chainName(c), end
		if err := w.client.Create(ctx, flow); err != nil {
			return nil, err
		}
		pause(ctx, apart)
	}
	times, err := wait()
	if err != nil {
		return nil, err
	}
	return hops(times, n)
}

// hops are the times between each Job and the next.
func hops(times jobTimes, n int) ([]float64, error) {
	var took []float64
	for c := range chains {
		for i := 1; i < n; i++ {
			completed, created := times.completed[jobOfChain(c, i-1)], times.created[jobOfChain(c, i)]
			if completed.IsZero() || created.IsZero() {
				return nil, fmt.Errorf("chain %d: no end of Job %d or no beginning of the next", c, i-1)
			}
			took = append(took, float64(created.Sub(completed))/float64(time.Millisecond))
		}
	}
	return took, nil
}
