package jobflow_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/operators/jobflow"
)

var update = flag.Bool("update", false, "write the stories' output")

func TestStories(t *testing.T) { story.Run(t, "testdata/stories", *update, config(t)) }

// The manager crashes after each of its writes.
func TestCrashAfterEachWrite(t *testing.T) {
	story.CrashEverywhere(t, "testdata/crashes", *update, config(t))
}

func config(t *testing.T) story.Config {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return story.Config{
		Scheme: scheme,
		Options: []buildertest.Option{buildertest.WithCRDs(
			"../../config/crd/api.practice.com_jobflows.yaml", "../../config/crd/api.practice.com_jobtemplates.yaml")},
		Operators: []world.Operator{world.OperatorOf(jobflow.Operator)},
		Templates: map[string]string{"jobtemplate": "{apiVersion: api.practice.com/v1alpha1, kind: JobTemplate, spec: {jobTemplate: " + jobSpec + "}}"},
		Commands: map[string]story.Command{
			"jobflow": jobFlow, "running": running, "exit": exit, "states": states, "delete-job": deleteJob,
		},
	}
}

const jobSpec = `{template: {spec: {containers: [{name: main, image: "busybox:1.28"}]}}}`

// jobFlow is the command jobflow: "jobflow a b:a c:a,b finally=(last)" applies the JobFlow demo with these flows and their dependencies.
// A flow "b@name" refers to a JobTemplate. The YAML below has further fields of its spec; its field flow has those of flows, by their name.
func jobFlow(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	var spec, flow map[string]any
	if err := yaml.Unmarshal([]byte(l.Input), &spec); err != nil {
		return "", err
	}
	flow, _ = spec["flow"].(map[string]any)
	delete(spec, "flow")
	text, err := s.Do(ctx, story.Line{Command: "apply", Input: fmt.Sprintf(
		"{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {name: demo}, spec: {flows: [%s], finally: [%s]}}",
		flows(l.Words, flow), flows(l.Options["finally"], flow))})
	if err != nil || text != "" || len(spec) == 0 {
		return text, err
	}
	further, err := yaml.Marshal(map[string]any{"spec": spec})
	if err != nil {
		return "", err
	}
	return s.Do(ctx, story.Line{Command: "edit", Words: []string{"JobFlow/demo"}, Input: string(further)})
}

func flows(words []string, further map[string]any) string {
	var all []string
	for _, word := range words {
		name, dependencies, _ := strings.Cut(word, ":")
		fields := "jobTemplate: " + jobSpec
		if short, template, ok := strings.Cut(name, "@"); ok {
			name, fields = short, "jobTemplateRef: "+template
		}
		more, _ := further[name].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(more)) {
			value, _ := json.Marshal(more[key])
			fields += fmt.Sprintf(", %s: %s", key, value)
		}
		all = append(all, fmt.Sprintf("{name: %s, dependencies: [%s], %s}", name, dependencies, fields))
	}
	return strings.Join(all, ", ")
}

// running is the command running: a new cluster with one node, in which "running a b:a" runs the flow that jobflow applies.
func running(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	for _, line := range []story.Line{
		{Command: "cluster", Words: []string{"n1"}},
		{Command: "jobflow", Words: l.Words, Options: l.Options, Input: l.Input},
		{Command: "wait", Words: []string{"2s", "quiet"}},
	} {
		if text, err := s.Do(ctx, line); err != nil || text != "" {
			return text, err
		}
	}
	return "", nil
}

// exit is the command exit: "exit a=0 b=1" ends the pods of these flows, or of items such as c-0, with exit codes. Two seconds pass.
func exit(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	for _, name := range slices.Sorted(maps.Keys(l.Options)) {
		end := story.Line{Command: "pod", Words: []string{"demo-" + name + "-*"}, Options: map[string][]string{"exit": l.Options[name]}}
		if text, err := s.Do(ctx, end); err != nil || text != "" {
			return text, err
		}
	}
	return s.Do(ctx, story.Line{Command: "wait", Words: append([]string{"2s"}, l.Words...)})
}

// states is the command states: the flows of the JobFlow demo with their states and messages, a line each.
func states(ctx context.Context, s *story.Story, _ story.Line) (string, error) {
	var flow v1alpha1.JobFlow
	if err := s.Client().Get(ctx, client.ObjectKey{Namespace: story.Namespace, Name: "demo"}, &flow); err != nil {
		return "", err
	}
	var lines []string
	for _, f := range flow.Status.Flows {
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s %s: %s", f.Name, f.State, f.Message), ": "))
	}
	return strings.Join(lines, "\n"), nil
}
