package fluxjob

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	simulated "github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/fluxjob/internal/needs"
	"github.com/armature-dev/armature/operators/internal/outcome"
	"github.com/armature-dev/armature/operators/minicluster"
)

var update = flag.Bool("update", false, "write the outputs of the stories anew")

// allOperators are those of FluxJobs, of queues and of MiniClusters.
var allOperators = config(ofJobs(admission.Manager{}), ofQueues(admission.Manager{}), ofClusters())

func TestStories(t *testing.T) { story.Run(t, "testdata/stories", *update, allOperators) }

// The manager of jobs and queues crashes after each of its writes.
func TestCrashAfterEachWrite(t *testing.T) {
	c := config(ofJobs(admission.Manager{}), ofQueues(admission.Manager{}))
	c.Others = []simulated.Operator{ofClusters()}
	story.CrashEverywhere(t, "testdata/crashes", *update, c)
}

// config is for stories on simulated nodes. Their MiniClusters run without Flux: the leader's pod runs the command itself.
func config(operators ...simulated.Operator) story.Config {
	return story.Config{
		Scheme: newScheme(), Options: []buildertest.Option{crds}, Operators: operators,
		Templates: map[string]string{
			"queue": "{apiVersion: api.practice.com/v1alpha1, kind: FluxSetup, metadata: {name: q}, spec: {quota: {miniClusters: 1}}}",
			"job":   "{apiVersion: api.practice.com/v1alpha1, kind: FluxJob, spec: {image: 'busybox:1.28', command: 'true', size: 1, queue: q}}",
		},
		Invariants: []buildertest.Invariant{withinQuota},
	}
}

// ofJobs is the operator of FluxJobs.
func ofJobs(m admission.Manager) simulated.Operator {
	return simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.FluxJob] { return Operator(mgr, m) })
}

// ofQueues is the operator of FluxSetups.
func ofQueues(m admission.Manager) simulated.Operator {
	return simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.FluxSetup] { return admission.Operator(mgr, m) })
}

// ofClusters is the operator of MiniClusters.
func ofClusters() simulated.Operator {
	return simulated.OperatorOf(func(mgr manager.Manager) *builder.Operator[*v1alpha1.MiniCluster] {
		return minicluster.Operator(mgr, minicluster.Planner{NewCertificate: func(string) []byte { return []byte("certificate") }})
	})
}

// withinQuota fails if more MiniClusters run or may run than the queue's quota allows. A MiniCluster that is gone counts while one of its
// pods runs.
func withinQuota(ctx context.Context, c client.Reader) error {
	setup := &v1alpha1.FluxSetup{}
	if err := c.Get(ctx, client.ObjectKey{Name: "q"}, setup); err != nil || setup.Spec.Quota.MiniClusters == nil {
		return client.IgnoreNotFound(err)
	}
	var list v1alpha1.MiniClusterList
	if err := c.List(ctx, &list); err != nil {
		return err
	}
	running := map[client.ObjectKey]bool{}
	for i := range list.Items {
		if cluster := &list.Items[i]; !cluster.Spec.Suspend && !needs.IsOver(cluster) {
			running[client.ObjectKeyFromObject(cluster)] = true
		}
	}
	var pods corev1.PodList
	if err := c.List(ctx, &pods, client.HasLabels{minicluster.LabelMiniCluster}); err != nil {
		return err
	}
	for i := range pods.Items {
		if pod := &pods.Items[i]; !outcome.HasEnded(pod) {
			running[client.ObjectKey{Namespace: pod.Namespace, Name: pod.Labels[minicluster.LabelMiniCluster]}] = true
		}
	}
	if most := int(*setup.Spec.Quota.MiniClusters); len(running) > most {
		return fmt.Errorf("%v run on a quota of %d", slices.SortedFunc(maps.Keys(running), func(a, b client.ObjectKey) int {
			return strings.Compare(a.String(), b.String())
		}), most)
	}
	return nil
}
