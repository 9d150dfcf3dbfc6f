package migration

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
)

func scenario() buildertest.Scenario {
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Data:       map[string]string{"image": "example.com/shop:v1", "schema": "7", "settings": "a=1"},
	}
	return buildertest.Scenario{
		Objects:  []client.Object{owner},
		Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(owner)}},
		World:    buildertest.InOrder(buildertest.CompleteJobs, expire, buildertest.RollOut),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(Operator(nil), c, c.Now)
		},
	}
}

// expire does what the TTL controller does, at once.
func expire(ctx context.Context, c client.Client) error {
	var jobs batchv1.JobList
	if err := c.List(ctx, &jobs); err != nil {
		return err
	}
	for i := range jobs.Items {
		if job := &jobs.Items[i]; job.Spec.TTLSecondsAfterFinished != nil && job.Status.CompletionTime != nil {
			if err := c.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)); err != nil {
				return client.IgnoreNotFound(err)
			}
		}
	}
	return nil
}

func TestTheRecipe(t *testing.T) {
	server := buildertest.Settle(t, scenario())
	var made []string
	for _, c := range server.Ledger().Writes() {
		if c.Verb == buildertest.VerbCreate && c.Kind.Kind != "Event" && c.Err == nil {
			made = append(made, c.Kind.Kind)
		}
	}
	order := slices.DeleteFunc(made, func(kind string) bool { return kind == "ControllerRevision" })
	require.Equal(t, []string{"Secret", "Job", "Deployment"}, order)
	assert.Equal(t, 1, server.Ledger().Count(buildertest.VerbCreate, schema.GroupKind{Group: "batch", Kind: "Job"}))
}

func TestTheRecipeSurvivesCrashes(t *testing.T) {
	buildertest.CrashEverywhere(t, scenario())
}
