package harness

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
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
	mu   sync.Mutex
	uids map[string]map[types.UID]bool
}

// CountCreations counts from now on, until the test ends.
func CountCreations(t *testing.T, c client.WithWatch, namespace string) *Creations {
	t.Helper()
	w, err := c.Watch(t.Context(), &batchv1.JobList{}, client.InNamespace(namespace))
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	counted := &Creations{uids: map[string]map[types.UID]bool{}}
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

// ByName returns how often the Job of each name was created.
func (c *Creations) ByName() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	counts := map[string]int{}
	for name, uids := range c.uids {
		counts[name] = len(uids)
	}
	return counts
}
