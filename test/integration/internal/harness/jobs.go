package harness

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Jobs returns the names of all Jobs in the namespace, sorted.
func (p *Place) Jobs() []string {
	p.T.Helper()
	var list batchv1.JobList
	require.NoError(p.T, p.Client.List(context.Background(), &list, client.InNamespace(p.Namespace)))
	var names []string
	for _, job := range list.Items {
		names = append(names, job.Name)
	}
	slices.Sort(names)
	return names
}

// PodsWith returns the pods in the namespace whose label has a value.
func (p *Place) PodsWith(label, value string) []corev1.Pod {
	p.T.Helper()
	var list corev1.PodList
	require.NoError(p.T, p.Client.List(context.Background(), &list, client.InNamespace(p.Namespace), client.MatchingLabels{label: value}))
	return list.Items
}

// Creations counts how often each Job of a namespace was created.
type Creations struct {
	t    *testing.T
	list func() batchv1.JobList

	mu   sync.Mutex
	uids map[string]map[types.UID]bool
}

// CountCreations counts from now on, until the test ends.
func CountCreations(t *testing.T, c client.WithWatch, namespace string) *Creations {
	t.Helper()
	in := client.InNamespace(namespace)
	counted := &Creations{t: t, uids: map[string]map[types.UID]bool{}, list: func() (list batchv1.JobList) {
		require.NoError(t, c.List(t.Context(), &list, in))
		return list
	}}
	w, err := watchtools.NewRetryWatcherWithContext(t.Context(), counted.list().ResourceVersion, &cache.ListWatch{
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return c.Watch(ctx, &batchv1.JobList{}, in, &client.ListOptions{Raw: &options})
		},
	})
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	go func() {
		for event := range w.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && event.Type != watch.Deleted {
				counted.add(job)
			}
		}
	}()
	return counted
}

func (c *Creations) add(job *batchv1.Job) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.uids[job.Name] == nil {
		c.uids[job.Name] = map[types.UID]bool{}
	}
	c.uids[job.Name][job.UID] = true
}

// ByName returns how often the Job of each name was created, once the watch has shown all Jobs that exist.
func (c *Creations) ByName() map[string]int {
	c.t.Helper()
	existing := c.list()
	Eventually(c.t, time.Minute, "the watch shows all Jobs", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return !slices.ContainsFunc(existing.Items, func(job batchv1.Job) bool { return !c.uids[job.Name][job.UID] })
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := map[string]int{}
	for name, uids := range c.uids {
		counts[name] = len(uids)
	}
	return counts
}
