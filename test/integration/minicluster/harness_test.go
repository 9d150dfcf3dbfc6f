package minicluster

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/undo"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience = 120 * time.Second
	examples = "../../../examples/minicluster/"
)

// place is a test's namespace on the cluster.
type place struct{ *harness.Place }

// newPlace makes a place for a test that runs beside the others: most of the time it waits for pods.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	return newPlaceAlone(t)
}

// newPlaceAlone makes a place for a test that looks at what concerns all of this process, and so runs by itself.
func newPlaceAlone(t *testing.T) *place {
	t.Helper()
	return &place{harness.New(t, "MiniCluster", patience)}
}

// manage runs a manager for the namespace until stop is called or the test ends.
func (p *place) manage(change ...func(*rest.Config)) (stop func()) {
	p.T.Helper()
	mgr := p.NewManager(testcluster.OperatorConfig(p.T, "minicluster"), p.Options(), change...)
	with, err := undo.Around(mgr, undo.Options{})
	require.NoError(p.T, err)
	require.NoError(p.T, minicluster.Setup(with))
	return p.Start(mgr)
}

// cluster returns a MiniCluster of a name as it is now.
func (p *place) cluster(name string) *v1alpha1.MiniCluster {
	p.T.Helper()
	c := &v1alpha1.MiniCluster{}
	p.Get(name, c)
	return c
}

// wait waits until a cluster is as wanted.
func (p *place) wait(name, what string, done func(*v1alpha1.MiniCluster) bool) *v1alpha1.MiniCluster {
	p.T.Helper()
	var c *v1alpha1.MiniCluster
	p.Eventually(what, func() bool {
		c = p.cluster(name)
		return done(c)
	}, func() any { return c.Status })
	return c
}

// waitState waits until a cluster is in a state.
func (p *place) waitState(name string, state v1alpha1.MiniClusterState) *v1alpha1.MiniCluster {
	p.T.Helper()
	return p.wait(name, name+" is "+string(state), func(c *v1alpha1.MiniCluster) bool { return c.Status.State == state })
}

// isTrue reports whether a condition holds.
func isTrue(c *v1alpha1.MiniCluster, kind string) bool {
	return apimeta.IsStatusConditionTrue(c.Status.Conditions, kind)
}

// pods returns a cluster's live pods by rank.
func (p *place) pods(name string) map[string]corev1.Pod {
	p.T.Helper()
	pods := map[string]corev1.Pod{}
	for _, pod := range p.PodsWith(batchv1.JobNameLabel, name) {
		if pod.DeletionTimestamp == nil && pod.Status.Phase != corev1.PodFailed {
			pods[pod.Labels[batchv1.JobCompletionIndexAnnotation]] = pod
		}
	}
	return pods
}

// job returns a cluster's Job, nil if it has none.
func (p *place) job(name string) *batchv1.Job {
	p.T.Helper()
	job := &batchv1.Job{}
	err := p.Client.Get(context.Background(), client.ObjectKey{Namespace: p.Namespace, Name: name}, job)
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(p.T, err)
	return job
}

// logs returns what the leader of a cluster printed.
func (p *place) logs(name string) string {
	p.T.Helper()
	return p.Logs(p.cluster(name).Status.Leader.Pod)
}

// touch makes the operator look at a cluster again, without changing what it says.
func (p *place) touch(name string) {
	p.T.Helper()
	p.Touch(minicluster.Name, p.cluster(name))
}

// condition returns a condition, a false one if there is none.
func condition(t *testing.T, c *v1alpha1.MiniCluster, kind string) metav1.Condition {
	t.Helper()
	if found := apimeta.FindStatusCondition(c.Status.Conditions, kind); found != nil {
		return *found
	}
	return metav1.Condition{}
}
