package daemonjob

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestARestartedManagerCreatesEachJobOnce(t *testing.T) {
	p := newPlace(t)
	w, err := p.client.Watch(t.Context(), &batchv1.JobList{}, client.InNamespace(p.namespace))
	require.NoError(t, err)
	t.Cleanup(w.Stop)
	var mu sync.Mutex
	created := map[string]map[types.UID]bool{}
	go func() {
		for event := range w.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && event.Type == watch.Added {
				mu.Lock()
				if created[job.Name] == nil {
					created[job.Name] = map[types.UID]bool{}
				}
				created[job.Name][job.UID] = true
				mu.Unlock()
			}
		}
	}()

	stop := p.manage()
	spec := script("true")
	spec.Template.Spec.NodeSelector = nil // all 53 nodes
	spec.Parallelism = ptr.To(intstr.FromInt32(20))
	p.create(spec)
	for _, n := range []int32{5, 30} {
		p.wait("demo", "some nodes have run it", func(j *v1alpha1.DaemonJob) bool { return j.Status.Succeeded >= n })
		stop()
		stop = p.manage()
	}
	job := p.waitState("demo", v1alpha1.StateSucceed)
	assert.EqualValues(t, 3+fakeNodes, job.Status.Succeeded)
	mu.Lock()
	defer mu.Unlock()
	assert.Len(t, created, 3+fakeNodes)
	for name, uids := range created {
		assert.Len(t, uids, 1, name)
	}
}
