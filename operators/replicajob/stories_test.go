package replicajob_test

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
	"github.com/armature-dev/armature/operators/replicajob"
)

var update = flag.Bool("update", false, "write the stories' output")

func TestStories(t *testing.T) { story.Run(t, "testdata/stories", *update, config(t)) }

// The manager crashes after each of its writes, in a cluster that has two ways to schedule pods together.
func TestCrashAfterEachWrite(t *testing.T) {
	kind := replicajob.ReplicaJobs
	kind.Schedulers = []v1alpha1.GangProvider{v1alpha1.GangKubernetes, v1alpha1.GangPodDisruptionBudget}
	c := config(t)
	c.Operators = []world.Operator{world.OperatorOf(kind.Operator)}
	story.CrashEverywhere(t, "testdata/crashes", *update, c)
}

func config(t *testing.T) story.Config {
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return story.Config{
		Scheme:    scheme,
		Options:   []buildertest.Option{buildertest.WithCRDs("../../config/crd/api.practice.com_replicajobs.yaml")},
		Operators: []world.Operator{world.OperatorOf(replicajob.ReplicaJobs.Operator)},
		Commands:  map[string]story.Command{"replicajob": replicaJob},
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
	text, err := s.Do(ctx, story.Line{Command: "apply", Input: fmt.Sprintf(
		"{apiVersion: api.practice.com/v1alpha1, kind: ReplicaJob, metadata: {name: demo}, spec: {replicaSpecs: {%s}}}", strings.Join(types, ", "))})
	if err != nil || text != "" || l.Input == "" {
		return text, err
	}
	return s.Do(ctx, story.Line{Command: "edit", Words: []string{"ReplicaJob/demo"}, Input: "spec:\n  " + strings.ReplaceAll(l.Input, "\n", "\n  ")})
}
