package recordcmd

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/record/recordtest"
	"github.com/armature-dev/armature/cmd/armature/internal/exitcode"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/fluxjob"
	"github.com/armature-dev/armature/operators/fluxjob/admission"
	"github.com/armature-dev/armature/operators/jobflow"
	"github.com/armature-dev/armature/operators/minicluster"
	"github.com/armature-dev/armature/operators/replicajob"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "default", Name: name}
}

func template() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox"}},
	}}
}

func flow() *v1alpha1.JobFlow {
	job := &batchv1.JobSpec{BackoffLimit: new(int32), Template: template()}
	return &v1alpha1.JobFlow{ObjectMeta: named("nightly"), Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{
		{Name: "a", JobTemplate: job}, {Name: "b", JobTemplate: job, Dependencies: []string{"a"}},
	}}}
}

// queues is the manager of the queues in these tests. Its plans write its name.
var queues = admission.Manager{Name: "system/armature-manager"}

// reconcilers make the reconcilers of the bundled operators.
var reconcilers = map[string]func(recordtest.Client) (reconcile.Reconciler, error){
	daemonjob.Name: func(c recordtest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(daemonjob.Operator(nil), c, c.Now)
	},
	fluxjob.Name: func(c recordtest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(fluxjob.Operator(nil, queues), c, c.Now)
	},
	admission.Name: func(c recordtest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(admission.Operator(nil, queues), c, c.Now)
	},
	jobflow.Name: func(c recordtest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(jobflow.Operator(nil), c, c.Now)
	},
	minicluster.Name: func(c recordtest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(minicluster.Operator(nil, minicluster.Planner{NewCertificate: minicluster.NewCertificate}), c, c.Now)
	},
	replicajob.Name: func(c recordtest.Client) (reconcile.Reconciler, error) {
		return buildertest.NewReconciler(replicajob.ReplicaJobs.Operator(nil), c, c.Now)
	},
}

// owners are one owner of each bundled operator, with the objects that it needs.
func owners() map[string][]client.Object {
	queue := &v1alpha1.FluxSetup{ObjectMeta: metav1.ObjectMeta{Name: "q"}}
	queued := &v1alpha1.FluxJob{ObjectMeta: named("train"), Spec: v1alpha1.FluxJobSpec{
		Image: "busybox", Command: "true", Size: new(int32(2)), Queue: "q",
	}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	return map[string][]client.Object{
		jobflow.Name:   {flow()},
		daemonjob.Name: {&v1alpha1.DaemonJob{ObjectMeta: named("scan"), Spec: v1alpha1.DaemonJobSpec{Template: template()}}},
		replicajob.Name: {&v1alpha1.ReplicaJob{ObjectMeta: named("learn"), Spec: v1alpha1.ReplicaJobSpec{
			ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Worker": {Replicas: new(int32(2)), Template: template()}},
		}}},
		minicluster.Name: {&v1alpha1.MiniCluster{ObjectMeta: named("flux"), Spec: v1alpha1.MiniClusterSpec{
			Size: 2, Containers: []v1alpha1.MiniClusterContainer{{Image: "lammps", Command: "lmp"}},
		}}},
		admission.Name: {queue, queued, namespace},
		fluxjob.Name:   {queued, queue, namespace},
	}
}

// recordedPasses runs an operator until nothing changes any more, and returns its passes as a file has them.
func recordedPasses(t *testing.T, name string) *record.List {
	t.Helper()
	return passesIn(t, world.JobsSucceed, name)
}

// crds are read once for all tests.
var crds = buildertest.WithCRDs("../../../../config/crd")

// passesIn is recordedPasses with other pods.
func passesIn(t *testing.T, pods func(*corev1.Pod) world.Script, name string) *record.List {
	t.Helper()
	recorder := record.NewRecorder(1 << 20)
	var err error
	recorder.Settings, err = Settings(queues)
	require.NoError(t, err)
	objects := owners()[name]
	buildertest.Settle(t, buildertest.Scenario{
		Scheme: newScheme(), Options: []buildertest.Option{crds},
		Objects: append(slices.Clone(objects), world.Node("n1")), Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(objects[0])}},
		Cluster: world.Cluster(world.Options{Pods: pods}), ClockStands: true,
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return reconcilers[name](recordtest.Client{Client: c, Recorder: recorder})
		},
	})
	list, err := recorder.Passes(record.Owner{})
	require.NoError(t, err)
	require.NotEmpty(t, list.Items)
	var file bytes.Buffer
	require.NoError(t, list.Write(&file))
	list, err = record.Read(&file)
	require.NoError(t, err)
	return list
}

// Each bundled operator's passes replay with no difference, those with a random certificate included.
func TestBundledOperatorsReplay(t *testing.T) {
	require.Len(t, reconcilers, len(operators))
	fail := func(pod *corev1.Pod) world.Script {
		script := world.JobsSucceed(pod)
		script.ExitCode = 1
		return script
	}
	for name := range operators {
		t.Run(name, func(t *testing.T) {
			list := recordedPasses(t, name)
			list.Items = append(list.Items, passesIn(t, fail, name).Items...)
			for i := range list.Items {
				require.Equal(t, name, list.Items[i].Operator)
			}
			var out strings.Builder
			require.NoError(t, replay(list, &out, output.New()), out.String())
			assert.Equal(t, len(list.Items), strings.Count(out.String(), ": same plan\n"), out.String())
		})
	}
}

// A plan that differs is shown, with exit code 2.
func TestReplayShowsDifferences(t *testing.T) {
	list := recordedPasses(t, jobflow.Name)
	list.Items = list.Items[:1]
	job := list.Items[0].Plan.Children[0].Object["spec"].(map[string]any)
	job["backoffLimit"] = int64(77)
	var out strings.Builder
	err := replay(list, &out, output.New())
	code, silent := exitcode.Of(err)
	assert.Equal(t, exitDiffers, code)
	assert.True(t, silent)
	assert.Equal(t, `JobFlow.api.practice.com default/nightly: the plan differs
  children["Job.batch default/nightly-a"].object.spec.backoffLimit
-   77
+   0
`, out.String())

	list.Items[0].Operator = "other"
	err = replay(list, &out, output.New())
	assert.ErrorContains(t, err, `the pass is of the operator "other"; this program has daemonjob, fluxjob`)
}

// Passes that failed before their plans have nothing to compare. A replay of only such passes isn't a success.
func TestReplayOfPassesWithoutAPlan(t *testing.T) {
	list := recordedPasses(t, jobflow.Name)
	list.Items = list.Items[:2]
	list.Items[0].Plan, list.Items[0].Error = nil, "no answer"
	var out strings.Builder
	require.NoError(t, replay(list, &out, output.New()))
	assert.Equal(t, "pass 1 of 2: JobFlow.api.practice.com default/nightly: it failed before its plan: no answer\n"+
		"pass 2 of 2: JobFlow.api.practice.com default/nightly: same plan\n", out.String())
	list.Items = list.Items[:1]
	assert.EqualError(t, replay(list, &out, output.New()), "nothing was compared: no pass has a plan")
}

// The error of the only pass to use names no number: that pass isn't the first of the file.
func TestAnErrorOfTheOnlyPassHasNoNumber(t *testing.T) {
	list := recordedPasses(t, jobflow.Name)
	list.Items[1].Operator = "other"
	file := filepath.Join(t.TempDir(), "passes.json")
	var text bytes.Buffer
	require.NoError(t, list.Write(&text))
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	const owner = "JobFlow.api.practice.com default/"
	for args, want := range map[string]string{"": "pass 2: " + owner, "--pass=2": owner} {
		cmd := newReplay()
		cmd.SetOut(&text)
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		cmd.SetArgs(append(strings.Fields(args), file))
		err := cmd.Execute()
		require.Error(t, err)
		assert.True(t, strings.HasPrefix(err.Error(), want), err.Error())
	}
}

// A pass of which there is no test leaves no file.
func TestNoGoTest(t *testing.T) {
	list := recordedPasses(t, jobflow.Name)
	pass := &list.Items[0]
	pass.Plan, pass.Error = nil, "no answer"
	file := filepath.Join(t.TempDir(), "nightly_test.go")
	require.ErrorContains(t, writeTest(pass, file), "failed before its plan: no answer")
	assert.NoFileExists(t, file)
}

// The Go test of a pass passes with the program that made the pass, and fails with another plan.
func TestGoTests(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a test of each operator")
	}
	dir := filepath.Join("testdata", "incident") // in this module, and in no pattern of packages
	require.NoError(t, os.RemoveAll(dir))        // of a run that was killed
	require.NoError(t, os.MkdirAll(dir, 0o750))
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll("testdata")) })
	// One package for all, with names of their own.
	write := func(name string, pass *record.Pass) {
		file := filepath.Join(dir, name+"_test.go")
		require.NoError(t, writeTest(pass, file))
		text, err := os.ReadFile(file) //nolint:gosec // written above
		require.NoError(t, err)
		changed := strings.ReplaceAll(string(text), "recorded", "recorded"+name)
		changed = regexp.MustCompile(`func Test\w+`).ReplaceAllString(changed, "func TestOf"+name)
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	}
	want := map[string]string{"otherplan": "fail"}
	for name := range operators {
		write(name, &recordedPasses(t, name).Items[0])
		want[name] = "pass"
	}
	other := recordedPasses(t, jobflow.Name).Items[0]
	other.Plan.RequeueAfter = 1234
	write("otherplan", &other)

	command := exec.CommandContext(context.Background(), "go", "test", "-vet=off", "-ldflags=-s", "-json", "./"+dir) //nolint:gosec // fixed
	out, err := command.Output()
	require.Error(t, err)
	assert.Contains(t, string(out), "requeueAfter is 1234 in the record, and now \\u003cnil\\u003e")
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		var event struct{ Action, Test string }
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		if name, ok := strings.CutPrefix(event.Test, "TestOf"); ok && (event.Action == "pass" || event.Action == "fail") {
			got[name] = event.Action
		}
	}
	assert.Equal(t, want, got)
}

// --step and --to-test replay nothing, so they have no outcome to encode.
func TestFormatIsOfAReplay(t *testing.T) {
	for _, flag := range []string{"--step", "--to-test=x_test.go"} {
		cmd := newReplay()
		cmd.SetArgs([]string{"nowhere.json", flag, "-o", "json"})
		cmd.SilenceUsage, cmd.SilenceErrors = true, true
		assert.ErrorContains(t, cmd.Execute(), "none of the others can be")
	}
}

func TestReplayNamesTheGoTest(t *testing.T) {
	dir := t.TempDir()
	list := recordedPasses(t, jobflow.Name)
	file, test := filepath.Join(dir, "passes.json"), filepath.Join(dir, "x_test.go")
	var text bytes.Buffer
	require.NoError(t, list.Write(&text))
	require.NoError(t, os.WriteFile(file, text.Bytes(), 0o600))
	cmd := newReplay()
	var errs bytes.Buffer
	cmd.SetErr(&errs)
	cmd.SetArgs([]string{file, "--to-test", test})
	require.NoError(t, cmd.Execute())
	assert.Equal(t, "Go test in "+test+"\n", errs.String())
	assert.FileExists(t, test)
}

// Recordings of earlier versions have the timeout by its former name; it was never set.
func TestQueueManagerOfAFormerRecording(t *testing.T) {
	pass := &record.Pass{}
	pass.Program.Settings = map[string]string{settingQueueManager: `{"Name":"a/b","Namespaces":null,"Selector":"","Patience":0}`}
	m, err := queueManager(pass)
	require.NoError(t, err)
	assert.Equal(t, admission.Manager{Name: "a/b"}, m)
}
