package minicluster

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
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

// Kueue's decision waits for no turn in the roll-out of a new build, as an object that is pruned would.
func TestServicesThatMustRestAreNotPruned(t *testing.T) {
	c := makeCluster(1, queued, func(c *v1alpha1.MiniCluster) {
		c.Spec.Services = []v1alpha1.MiniClusterContainer{{Name: "db", Image: "db"}}
	})
	deployment := services(c)
	deployment.UID = "deployment-uid"
	for name, invalid := range map[string]bool{"valid": false, "invalid": true} {
		t.Run(name, func(t *testing.T) {
			c := c.DeepCopy()
			if invalid {
				c.Spec.Containers = nil
			}
			plan := planner.Plan(c, buildertest.NewView(noon, deployment))
			assert.Equal(t, []client.Object{deployment}, plan.Delete)
			assert.Empty(t, plan.Prune)
			assert.Empty(t, plan.Children)
		})
	}
}

// What a cluster waits for is in its condition, unless the same pass creates it.
func TestWhatAJobWaitsFor(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(objects map[string]client.Object)
		text   string
	}{
		"nothing": {func(map[string]client.Object) {}, ""},
		"missing": {func(objects map[string]client.Object) { delete(objects, "demo-curve") }, ""},
		"another command": {
			func(objects map[string]client.Object) {
				objects["demo-entrypoint"].(*corev1.ConfigMap).Data["command"] = "another"
			},
			"waits for ConfigMap demo-entrypoint: its key command isn't that of the spec",
		},
		"terminating": {
			func(objects map[string]client.Object) {
				objects["demo"].SetDeletionTimestamp(new(metav1.NewTime(noon)))
			},
			"waits for Service demo: it is being deleted",
		},
		"another certificate": {
			func(objects map[string]client.Object) {
				objects["demo-curve"].(*corev1.Secret).Data[curveKey] = []byte("another")
			},
			"waits for Secret demo-curve: its key curve.cert isn't flux.curveCert of the spec",
		},
		"no certificate": {
			func(objects map[string]client.Object) { objects["demo-curve"].(*corev1.Secret).Data = nil },
			"waits for Secret demo-curve: its key curve.cert is empty",
		},
	} {
		c := makeCluster(1, func(c *v1alpha1.MiniCluster) { c.Spec.Flux.CurveCert = "own" })
		objects := map[string]client.Object{}
		for _, obj := range firstPasses(c, 1, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] { return planner.Plan(c, view) }) {
			objects[obj.GetName()] = obj
		}
		tt.change(objects)
		c.Status = v1alpha1.MiniClusterStatus{}
		plan := planner.Plan(c, buildertest.NewView(noon, slices.Collect(maps.Values(objects))...))
		ready := apimeta.FindStatusCondition(plan.Status.Status.Conditions, events.ConditionReady)
		assert.Equal(t, cmp.Or(tt.text, "0 of 1 pod ready"), ready.Message, name)
	}
}

// A waiting Job of an earlier version doesn't say which queue it was created for. Only a queue that the cluster itself asks for replaces it.
func TestAWaitingJobOfAnEarlierVersion(t *testing.T) {
	for name, tt := range map[string]struct {
		cluster, job map[string]string
		isReplaced   bool
	}{
		"the same queue":         {cluster: map[string]string{v1alpha1.LabelKueueQueue: "a"}, job: map[string]string{v1alpha1.LabelKueueQueue: "a"}},
		"another queue":          {cluster: map[string]string{v1alpha1.LabelKueueQueue: "b"}, job: map[string]string{v1alpha1.LabelKueueQueue: "a"}, isReplaced: true},
		"a queue of Kueue's own": {job: map[string]string{v1alpha1.LabelKueueQueue: "default", v1alpha1.LabelKueuePriority: "high"}},
		"another priority": {
			cluster: map[string]string{v1alpha1.LabelKueueQueue: "a", v1alpha1.LabelKueuePriority: "high"},
			job:     map[string]string{v1alpha1.LabelKueueQueue: "a"}, isReplaced: true,
		},
	} {
		c := makeCluster(1)
		job, _, _ := started(c)
		c.Labels, c.Status = tt.cluster, v1alpha1.MiniClusterStatus{}
		maps.Copy(job.Labels, tt.job)
		delete(job.Annotations, annotationQueue)
		job.Spec.Suspend = new(true)
		plan := planner.Plan(c, buildertest.NewView(noon, job))
		assert.Equal(t, tt.isReplaced, len(plan.Delete) == 1, name)
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

// A Job that is resumed keeps the startTime of its former run until the Job controller has seen it: before Kubernetes 1.36 a suspension
// doesn't remove it.
func TestAResumedClusterStartsNow(t *testing.T) {
	c := makeCluster(1)
	c.Spec.DeadlineSeconds = new(int64(60))
	job, _, _ := started(c)
	c.Status = v1alpha1.MiniClusterStatus{}
	job.Spec.Suspend = new(false)
	job.Status.StartTime = new(metav1.NewTime(noon.Add(-time.Hour)))
	startTime := func(suspended corev1.ConditionStatus) time.Time {
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: suspended}}
		plan := planner.Plan(c, buildertest.NewView(noon, job))
		require.NotNil(t, plan.Status)
		require.NotNil(t, plan.Status.Status.StartTime)
		return plan.Status.Status.StartTime.UTC()
	}
	assert.Equal(t, noon.UTC(), startTime(corev1.ConditionTrue))
	assert.Equal(t, noon.Add(-time.Hour).UTC(), startTime(corev1.ConditionFalse))
}

// The Job's pods read the ConfigMaps and the Secret of the present spec.
func TestAJobIsCreatedAfterWhatItsPodsNeed(t *testing.T) {
	for name, change := range map[string]func(spec *v1alpha1.MiniClusterSpec){
		"command":             func(spec *v1alpha1.MiniClusterSpec) { spec.Containers[0].Command = "another" },
		"a script less":       func(spec *v1alpha1.MiniClusterSpec) { spec.Containers[0].Commands.Post = "" },
		"the sidecar's":       func(spec *v1alpha1.MiniClusterSpec) { spec.Containers[1].Command = "another" },
		"the brokers' config": func(spec *v1alpha1.MiniClusterSpec) { spec.Flux.BrokerConfig = "another" },
		"curveCert":           func(spec *v1alpha1.MiniClusterSpec) { spec.Flux.CurveCert = "another" },
		"":                    func(*v1alpha1.MiniClusterSpec) {},
	} {
		c := makeCluster(1)
		c.Spec.Containers[0].Name, c.Spec.Containers[0].RunFlux = "main", true
		c.Spec.Containers[0].Commands.Post = "cat results"
		c.Spec.Containers = append(c.Spec.Containers, v1alpha1.MiniClusterContainer{Name: "side", Image: "side", Command: "serve"})
		objects := firstPasses(c, 1, func(view builder.View) builder.Plan[*v1alpha1.MiniCluster] { return planner.Plan(c, view) })
		for _, obj := range objects {
			if m, ok := obj.(*corev1.ConfigMap); ok {
				m.Data["of someone else"] = "who adds what no script reads"
			}
		}
		hasJob := func() bool {
			children := planner.Plan(c, buildertest.NewView(noon, objects...)).Children
			return slices.ContainsFunc(children, func(child builder.Child) bool { _, ok := child.Object().(*batchv1.Job); return ok })
		}
		change(&c.Spec)
		assert.Equal(t, name == "", hasJob(), name)
	}
}
