package minicluster

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
)

func TestTheCertificateIsMadeOnce(t *testing.T) {
	made := 0
	counting := Planner{NewCertificate: func(name string) []byte { made++; return NewCertificate(name) }}
	c := makeCluster(1)
	firstPasses(c, 4, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] { return counting.Plan(c, view) })
	assert.Equal(t, 1, made)
}

func TestCountsMayWait(t *testing.T) {
	c := makeCluster(3)
	_, pods, view := started(c)
	wait := func() time.Duration {
		plan := planner.Plan(c, view())
		require.NotNil(t, plan.Status)
		c.Status = plan.Status.Status
		return plan.StatusCanWait
	}
	ready := []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	assert.Zero(t, wait(), "the leader is on record")
	pods[1].Status.Conditions = ready
	assert.Equal(t, statusDelay, wait())
	pods[0].Status.Conditions = ready
	assert.Zero(t, wait(), "it runs now")
	pods[2].DeletionTimestamp = new(metav1.NewTime(noon))
	assert.Zero(t, wait(), "the first worker that is lost")

	plan := planner.Plan(c, view())
	assert.Nil(t, plan.Status, "nothing has changed")
	assert.Empty(t, plan.Events)
	assert.Empty(t, plan.Delete)
	assert.Zero(t, plan.RequeueAfter)
	for _, e := range plan.Edits {
		assert.Equal(t, e.Before, e.After)
	}
}

// The pods of the next version of this program may be rendered otherwise. What runs continues as it was started.
func TestAnUpgradeRestartsNothing(t *testing.T) {
	c := makeCluster(2)
	job, _, view := started(c)
	job.Spec.Template.Spec.Containers[0].Command = []string{"as the version before rendered it"}
	job.Annotations[annotationTemplate] = "of the version before"
	plan := planner.Plan(c, view())
	assert.Empty(t, plan.Delete)
	for _, child := range plan.Children {
		assert.NotEqual(t, "*v1.Job", fmt.Sprintf("%T", child.Object()))
	}
	for _, e := range plan.Edits {
		assert.Equal(t, e.Before.(*batchv1.Job).Spec, e.After.(*batchv1.Job).Spec)
	}
}

// A plan is a function: it changes nothing that it gets, and says the same of the same.
func TestPlansAreFunctions(t *testing.T) {
	for name, golden := range goldens {
		c := golden.DeepCopy()
		firstPasses(c, 4, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] {
			owner := c.DeepCopy()
			first := planner.Plan(owner, view)
			assert.Equal(t, c, owner, name)
			again := planner.Plan(owner, view)
			assert.Equal(t, inJSON(t, first), inJSON(t, again), name)
			for i := range first.Children {
				assert.Equal(t, first.Children[i].Object(), again.Children[i].Object(), name)
			}
			return first
		})
	}
}

// The key is in the Secret and nowhere else.
func TestTheKeyIsNowhereElse(t *testing.T) {
	key := z85([]byte("0123456789abcdef0123456789abcdef"))
	for name, golden := range goldens {
		c := golden.DeepCopy()
		firstPasses(c, 4, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] {
			plan := planner.Plan(c, view)
			for _, child := range plan.Children {
				if secret, ok := child.Object().(*corev1.Secret); ok {
					assert.Contains(t, string(secret.Data[curveKey]), key, name)
					continue
				}
				assert.NotContains(t, inJSON(t, child.Object()), key, name)
			}
			assert.NotContains(t, inJSON(t, plan.Status)+inJSON(t, plan.Events), key, name)
			return plan
		})
	}
}

func inJSON(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
