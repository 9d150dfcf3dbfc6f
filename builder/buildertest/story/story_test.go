package story_test

import (
	"context"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
)

var update = flag.Bool("update", false, "write the stories' output")

// task runs a Job for each key of a ConfigMap, and says when one has failed.
func task(mgr manager.Manager) *builder.Operator[*corev1.ConfigMap] {
	return builder.NewOperator[*corev1.ConfigMap](mgr, "task").
		Owns(&batchv1.Job{}).
		Plan(func(owner *corev1.ConfigMap, view builder.View) (plan builder.Plan[*corev1.ConfigMap]) {
			for _, key := range slices.Sorted(maps.Keys(owner.Data)) {
				job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name + "-" + key}}
				job.Spec.BackoffLimit = new(int32)
				job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
					Name: "main", Image: "busybox", Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(owner.Data[key])},
					},
				}}}
				plan.Children = append(plan.Children, builder.Want(job, builder.CreateOnly()))
			}
			for _, job := range builder.Owned[*batchv1.Job](view) {
				for _, c := range job.Status.Conditions {
					if c.Type == batchv1.JobFailed {
						plan.Events = append(plan.Events, events.Warning("JobFailed", job.Name+" has failed"))
					}
				}
			}
			return plan
		})
}

var config = story.Config{
	Operators: []world.Operator{world.OperatorOf(task)},
	Templates: map[string]string{"job": `
apiVersion: batch/v1
kind: Job
metadata: {name: one}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox}]}}}
`},
	Commands: map[string]story.Command{"now": func(_ context.Context, s *story.Story, _ story.Line) (string, error) {
		return s.World().Now().String(), nil
	}},
}

func TestStories(t *testing.T) { story.Run(t, "testdata", *update, config) }

// fileToRead is the environment variable with the file that TestLinesWithoutTheirSeparator reads in a process of its own.
const fileToRead = "STORY_TEST_FILE"

// The lines below one without its ---- are its text. They would never run.
func TestLinesWithoutTheirSeparator(t *testing.T) {
	if file := os.Getenv(fileToRead); file != "" {
		story.CrashScenario(t, file, config)
		return
	}
	for text, expected := range map[string]string{
		"cluster n1\n\nsettle\n----\n":               `cluster takes no text below it, and has "settle"; is ---- missing?`,
		"settle\n\nlist Pod\n----\n":                 `settle takes no text below it, and has "list Pod"; is ---- missing?`,
		"then delete Job/x\n\nend list Pod\n----\n":  `delete takes no text below it, and has "end list Pod"; is ---- missing?`,
		"then wiat 1s\n----\n\nend list Pod\n----\n": `unknown command "wiat"`,
		"lags 1\n\nend list Pod\n----\n":             `lags takes no text below it, and has "end list Pod"; is ---- missing?`,
		"end list Pod\n\nend list Job\n----\n":       `list takes no text below it, and has "end list Job"; is ---- missing?`,
	} {
		file := filepath.Join(t.TempDir(), "story.txt")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this test
		c.Env = append(os.Environ(), fileToRead+"="+file)
		out, err := c.CombinedOutput()
		require.Error(t, err, "%s", out)
		assert.Contains(t, string(out), "story.txt:1: "+expected)
	}
}

func TestAnUnknownCommandFailsTheTest(t *testing.T) {
	s, err := story.New(config)
	require.NoError(t, err)
	_, err = s.Do(t.Context(), story.Line{Command: "wiat"})
	require.ErrorContains(t, err, `unknown command "wiat"; known are apply, break-node,`)
	text, err := s.Do(t.Context(), story.Line{Command: "now"})
	require.NoError(t, err)
	assert.Equal(t, "2026-01-01 00:00:00 +0000 UTC", text)
}

// A plan that panics ends the story of a counterexample.
func TestTheStoryOfAPanic(t *testing.T) {
	file := filepath.Join(t.TempDir(), "panic.txt")
	text := "apply\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: demo}\ndata: {a: much}\n----\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	panics := config
	panics.Operators = []world.Operator{{Owner: &corev1.ConfigMap{}, Reconciler: func(*buildertest.Client) (reconcile.Reconciler, error) {
		return reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { panic("no plan") }), nil
	}}}
	_, err := buildertest.FindCounterexample(t.Context(), story.Scenario(t, file, panics), buildertest.Bounds{})
	require.ErrorIs(t, err, buildertest.ErrPanic)
	var found *buildertest.Counterexample
	require.ErrorAs(t, err, &found)
	assert.Equal(t, text+"\nstep manager: reconcile ConfigMap default/demo\n----\npanic: no plan\n\n", found.Story)
}
