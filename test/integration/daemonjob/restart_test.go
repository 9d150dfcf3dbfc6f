package daemonjob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func TestARestartedManagerCreatesEachJobOnce(t *testing.T) {
	p := newPlaceAlone(t)
	created := harness.CountCreations(t, p.Client, p.Namespace)
	stop := p.manage()
	spec := script("true")
	spec.Template.Spec.NodeSelector = nil // all 53 nodes
	spec.Parallelism = new(intstr.FromInt32(20))
	p.create(spec)
	for _, n := range []int32{5, 30} {
		p.wait("demo", "some nodes have run it", func(j *v1alpha1.DaemonJob) bool { return j.Status.Succeeded >= n })
		stop()
		stop = p.manage()
	}
	job := p.waitState("demo", v1alpha1.StateSucceed)
	assert.EqualValues(t, 3+fakeNodes, job.Status.Succeeded)
	times := created.ByName()
	assert.Len(t, times, 3+fakeNodes)
	for name, n := range times {
		assert.Equal(t, 1, n, name)
	}
}
