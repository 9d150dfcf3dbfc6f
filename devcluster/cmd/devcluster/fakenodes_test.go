package main

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fakeJob is a Job of one pod on a fake node that does what the annotations say. It is not retried.
func fakeJob(name string, annotations map[string]string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: batchv1.JobSpec{
			BackoffLimit: new(int32(0)),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
				Spec: corev1.PodSpec{
					RestartPolicy: corev1.RestartPolicyNever,
					NodeSelector:  map[string]string{"devcluster.armature.dev/fake": "true"},
					Containers:    []corev1.Container{{Name: "c", Image: "none"}},
				},
			},
		},
	}
}

func (c *testCluster) createJob(t *testing.T, job *batchv1.Job) {
	t.Helper()
	_, err := c.client(t).BatchV1().Jobs("default").Create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { c.run(t, "kubectl", "delete", "job", job.Name, "--ignore-not-found", "--wait=false") })
}

// requireJobEnds waits for the condition, and returns the Job's only pod.
func (c *testCluster) requireJobEnds(t *testing.T, name string, condition batchv1.JobConditionType) corev1.Pod {
	t.Helper()
	eventually(t, func() error {
		job, err := c.client(t).BatchV1().Jobs("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, have := range job.Status.Conditions {
			if have.Type == condition && have.Status == corev1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("job %s is not %s: %+v", name, condition, job.Status)
	})
	pods, err := c.client(t).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=" + name})
	require.NoError(t, err)
	if len(pods.Items) == 0 {
		return corev1.Pod{}
	}
	return pods.Items[0]
}

func (c *testCluster) requireJobCompletes(t *testing.T, job *batchv1.Job) corev1.Pod {
	t.Helper()
	c.createJob(t, job)
	return c.requireJobEnds(t, job.Name, batchv1.JobComplete)
}

func TestFakePodRunsAsLongAsAnnotated(t *testing.T) {
	c := sharedCluster(t)
	quick := c.requireJobCompletes(t, fakeJob("quick", nil))
	assert.NotEmpty(t, quick.Status.PodIP)

	began := time.Now()
	pod := c.requireJobCompletes(t, fakeJob("timed", map[string]string{
		"devcluster.armature.dev/run-time":            "3s",
		"devcluster.armature.dev/termination-message": `{"answer": "42"}`,
	}))
	assert.GreaterOrEqual(t, time.Since(began), 3*time.Second)
	ended := pod.Status.ContainerStatuses[0].State.Terminated
	require.NotNil(t, ended)
	assert.Equal(t, corev1.ContainerStateTerminated{
		Reason: "Completed", Message: `{"answer": "42"}`, StartedAt: ended.StartedAt, FinishedAt: ended.FinishedAt,
	}, *ended)
	assert.GreaterOrEqual(t, ended.FinishedAt.Sub(ended.StartedAt.Time), 2*time.Second, "3 s, but times have whole seconds")
}

func TestFakePodFailsAsAnnotated(t *testing.T) {
	c := sharedCluster(t)
	failure := map[string]string{
		"devcluster.armature.dev/exit-code": "42",
		"devcluster.armature.dev/reason":    "OOMKilled",
	}
	c.createJob(t, fakeJob("failing", failure))
	pod := c.requireJobEnds(t, "failing", batchv1.JobFailed)
	ended := pod.Status.ContainerStatuses[0].State.Terminated
	require.NotNil(t, ended)
	assert.Equal(t, int32(42), ended.ExitCode)
	assert.Equal(t, "OOMKilled", ended.Reason)
	assert.Equal(t, corev1.PodFailed, pod.Status.Phase)

	// With OnFailure the pod stays, and its container counts the failures.
	again := fakeJob("restarting", failure)
	again.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	again.Spec.BackoffLimit = new(int32(1))
	c.createJob(t, again)
	c.requireJobEnds(t, "restarting", batchv1.JobFailed)
}

func TestFakePodRunsForeverAndIsDeleted(t *testing.T) {
	c := sharedCluster(t)
	pods := c.client(t).CoreV1().Pods("default")
	for name, change := range map[string]func(*corev1.Pod){
		"always":  func(p *corev1.Pod) { p.Spec.RestartPolicy = corev1.RestartPolicyAlways },
		"forever": func(p *corev1.Pod) { p.Annotations = map[string]string{"devcluster.armature.dev/run-time": "forever"} },
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: fakeJob("", nil).Spec.Template.Spec}
		change(pod)
		_, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	// What would end them by mistake ends this one.
	c.requireJobCompletes(t, fakeJob("meanwhile", map[string]string{"devcluster.armature.dev/run-time": "1500ms"}))
	for _, name := range []string{"always", "forever"} {
		pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.PodRunning, pod.Status.Phase, name)
		require.NoError(t, pods.Delete(t.Context(), name, metav1.DeleteOptions{}))
		eventually(t, func() error {
			if _, err := pods.Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return errors.Join(errors.New(name+" is still there"), err)
			}
			return nil
		})
	}
}
