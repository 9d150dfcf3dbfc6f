package buildertest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// Of two Jobs under a quota of one pod, either may be the first, though the Job controller lists one before the other.
func TestExploreTriesBothOrdersOfPodsUnderAQuota(t *testing.T) {
	s := by(func(context.Context, *buildertest.Client, *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	for _, name := range []string{"a", "b"} {
		job := jobOf(configMap("owner"), name)
		job.OwnerReferences = nil
		s.Objects = append(s.Objects, job)
	}
	s.Objects = append(s.Objects, world.Node("n1"), quotaOf("one-pod", "pods", "1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	second := errors.New("the second Job has a pod, and the first has none")
	s.Invariants = []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if strings.HasPrefix(pod.Name, "a-") {
				return nil
			}
		}
		if len(pods.Items) > 0 {
			return second
		}
		return nil
	}}
	_, err := buildertest.FindCounterexample(t.Context(), s, buildertest.Bounds{})
	require.ErrorIs(t, err, second)
}
