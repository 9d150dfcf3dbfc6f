package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/rollout"
)

// upgradeTo is a scenario in which the operator of a phasedWorld installs v1 and then upgrades it; check checks the end. The owner's
// annotations are the desired images. Pods of the image "bad" never become ready.
func upgradeTo(t *testing.T, images map[string]string, check func(*phasedWorld)) buildertest.Scenario {
	owner := newOwner()
	owner.Annotations = map[string]string{"controller": "v1", "broker": "v1", "server": "v1"}
	return buildertest.Scenario{
		Objects:  []client.Object{owner, world.Node("n1")},
		Requests: []reconcile.Request{ownerRequest()},
		Cluster: aroundOwner(world.Options{Pods: func(pod *corev1.Pod) world.Script {
			return world.Script{Unready: pod.Labels["image"] == "bad"}
		}}),
		Then: []buildertest.Edit{
			buildertest.Change(owner, func(o *appsv1.Deployment) { o.Annotations = images }),
			func(_ context.Context, c client.Client) error {
				check(&phasedWorld{t: t, others: c})
				return nil
			},
		},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			w := &phasedWorld{replicas: 1, options: rollout.Options{RollbackAfter: patience}}
			w.engine = buildertest.NewEngine(c, builder.Options{Name: "test"}, buildertest.EngineOptions{Clock: c.Now, Parallelism: 1})
			return reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				owner := &appsv1.Deployment{}
				if err := c.Get(ctx, r.NamespacedName, owner); err != nil {
					return reconcile.Result{}, err
				}
				w.owner, w.images = owner, owner.Annotations
				res, err := w.builder().Reconcile(ctx)
				return reconcile.Result{RequeueAfter: res.RequeueAfter}, err
			}), nil
		},
	}
}

func TestRolloutSurvivesCrashes(t *testing.T) {
	buildertest.CrashEverywhere(t, upgradeTo(t, map[string]string{"controller": "v2", "broker": "v2", "server": "v2"}, func(w *phasedWorld) {
		assert.Equal(t, "v2 v2 v2", w.deployed())
		assert.Equal(t, []string{"1Completed", "2Completed"}, w.revisions())
	}))
}

func TestRollbackSurvivesCrashes(t *testing.T) {
	buildertest.CrashEverywhere(t, upgradeTo(t, map[string]string{"controller": "v2", "broker": "bad", "server": "v2"}, func(w *phasedWorld) {
		assert.Equal(t, "v1 v1 v1", w.deployed())
		assert.Equal(t, []string{"1Completed", "2RolledBack"}, w.revisions())
	}))
}
