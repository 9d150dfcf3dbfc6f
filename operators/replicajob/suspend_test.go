package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestCleanPodPolicy(t *testing.T) {
	service, budget := client.Object(&corev1.Service{}), client.Object(&policyv1.PodDisruptionBudget{})
	for policy, want := range map[v1alpha1.CleanPodPolicy]struct {
		left  []string
		prune []client.Object
	}{
		"":        {[]string{"demo-chief-0", "demo-worker-0"}, []client.Object{budget, service}},
		"Running": {[]string{"demo-chief-0", "demo-worker-0"}, []client.Object{budget, service}},
		"All":     {[]string{}, []client.Object{budget, service}},
		"None":    {[]string{"demo-chief-0", "demo-worker-0", "demo-worker-1", "demo-worker-2"}, []client.Object{budget}},
	} {
		c := newCluster(t, makeJob(replicas("Chief", 1), replicas("Worker", 3), run(func(p *v1alpha1.RunPolicy) { p.CleanPodPolicy = policy })))
		c.settle()
		c.run("demo-chief-0", "demo-worker-1")
		c.ends(0, "demo-chief-0", "demo-worker-0")
		c.pass()
		c.pass()
		assert.Equal(t, want.prune, c.plan.Prune, policy)
		assert.Empty(t, c.plan.Children)
		c.settle()
		assert.ElementsMatch(t, want.left, c.names(), policy)
		if policy != "None" {
			assert.Zero(t, c.status("Worker").Active+c.status("Worker").Pending, "as it is now")
		}
		assert.EqualValues(t, 1, c.status("Worker").Succeeded, "as it was at the end")
	}
}
