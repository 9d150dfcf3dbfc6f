package jobflow_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

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
		Commands:  map[string]story.Command{"jobflow": jobFlow, "delete-job": deleteJob},
	}
}

const jobSpec = `{template: {spec: {containers: [{name: main, image: "busybox:1.28"}]}}}`

// jobFlow is the command jobflow: "jobflow a b:a c:a,b finally=(last)" applies the JobFlow demo with these flows and their dependencies.
// A flow "b@name" refers to a JobTemplate. The YAML below has further fields of its spec.
func jobFlow(ctx context.Context, s *story.Story, l story.Line) (string, error) {
	text, err := s.Do(ctx, story.Line{Command: "apply", Input: fmt.Sprintf(
		"{apiVersion: api.practice.com/v1alpha1, kind: JobFlow, metadata: {name: demo}, spec: {flows: [%s], finally: [%s]}}",
		flows(l.Words), flows(l.Options["finally"]))})
	if err != nil || text != "" || l.Input == "" {
		return text, err
	}
	return s.Do(ctx, story.Line{Command: "edit", Words: []string{"JobFlow/demo"}, Input: "spec:\n  " + strings.ReplaceAll(l.Input, "\n", "\n  ")})
}

func flows(words []string) string {
	var all []string
	for _, word := range words {
		name, dependencies, _ := strings.Cut(word, ":")
		job := "jobTemplate: " + jobSpec
		if short, template, ok := strings.Cut(name, "@"); ok {
			name, job = short, "jobTemplateRef: "+template
		}
		all = append(all, fmt.Sprintf("{name: %s, dependencies: [%s], %s}", name, dependencies, job))
	}
	return strings.Join(all, ", ")
}
