package replicajob_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/operators/replicajob"
)

var update = flag.Bool("update", false, "write the stories' output")

func TestStories(t *testing.T) {
	story.Run(t, "testdata/stories", *update, config(t, "Kubernetes", "Volcano", "SchedulerPlugins", "PodDisruptionBudget"))
}

// The manager crashes after each of its writes, in a cluster that has two ways to schedule pods together.
func TestCrashAfterEachWrite(t *testing.T) {
	story.CrashEverywhere(t, "testdata/crashes", *update, config(t, "Kubernetes", "PodDisruptionBudget"))
}

// config describes a cluster that has the APIs of some gang schedulers.
func config(t *testing.T, schedulers ...v1alpha1.GangProvider) story.Config {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	for group, version := range map[string]string{"scheduling.volcano.sh": "v1beta1", "scheduling.x-k8s.io": "v1alpha1"} {
		kind := schema.GroupVersionKind{Group: group, Version: version, Kind: "PodGroup"}
		scheme.AddKnownTypeWithName(kind, &unstructured.Unstructured{})
	}
	kind := replicajob.ReplicaJobs
	kind.Schedulers = schedulers
	return story.Config{
		Scheme: scheme,
		Options: []buildertest.Option{buildertest.WithCRDs(
			"../../config/crd/api.practice.com_replicajobs.yaml", "../../test/integration/replicajob/testdata/crd")},
		Operators: []world.Operator{world.OperatorOf(kind.Operator)},
		Commands:  map[string]story.Command{"replicajob": replicaJob, "outcome": outcome},
	}
}

// replicaJob is the command replicajob: "replicajob Chief=1 Worker=2" applies the ReplicaJob demo with these replicas. The YAML below has
// further fields of its spec.
func replicaJob(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	var types []string
	for name, replicas := range l.Options {
		types = append(types, fmt.Sprintf(
			`%q: {replicas: %s, template: {spec: {containers: [{name: main, image: "busybox:1.28"}]}}}`, name, replicas[0]))
	}
	job := fmt.Sprintf("{apiVersion: api.practice.com/v1alpha1, kind: ReplicaJob, metadata: {name: demo}, spec: {replicaSpecs: {%s}}}",
		strings.Join(types, ", "))
	text, err := s.Do(ctx, story.Line{Command: "apply", Input: job})
	if err != nil || text != "" || l.Input == "" {
		return text, err
	}
	spec := "spec:\n  " + strings.ReplaceAll(l.Input, "\n", "\n  ")
	return s.Do(ctx, story.Line{Command: "edit", Words: []string{"ReplicaJob/demo"}, Input: spec})
}

// outcome is the command outcome: "outcome Chief=1 Worker=2 exit=(chief-0=0, worker-1=137)" runs the ReplicaJob in an empty cluster. Five
// seconds after the start some pods end with an exit code, once. The manager is down until the 30th second. The output is the job's status.
func outcome(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	job := story.Line{Command: "replicajob", Options: maps.Clone(l.Options), Input: l.Input}
	delete(job.Options, "exit")
	quiet := []string{"quiet"}
	lines := []story.Line{
		{Command: "cluster", Words: []string{"n1"}}, job, {Command: "settle", Words: quiet},
		{Command: "stop"}, {Command: "clock", Words: []string{"5s"}},
	}
	for _, end := range l.Options["exit"] {
		pod, code, _ := strings.Cut(end, "=")
		once := map[string][]string{"exit": {code}, "before": {"1s"}}
		lines = append(lines, story.Line{Command: "pod", Words: []string{"demo-" + pod}, Options: once})
	}
	lines = append(lines, story.Line{Command: "wait", Words: []string{"25s", "quiet"}},
		story.Line{Command: "start"}, story.Line{Command: "settle", Words: quiet})
	for _, line := range lines {
		if text, err := s.Do(ctx, line); err != nil || text != "" {
			return text, err
		}
	}
	shown := strings.Fields("ReplicaJob/demo state completionTime restarts Succeeded Failed Restarting")
	return s.Do(ctx, story.Line{Command: "status", Words: shown})
}
