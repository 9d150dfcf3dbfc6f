package daemonjob_test

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/operators/daemonjob"
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
		Scheme:    scheme,
		Options:   []buildertest.Option{buildertest.WithCRDs("../../config/crd/api.practice.com_daemonjobs.yaml")},
		Operators: []world.Operator{world.OperatorOf(daemonjob.Operator)},
		Templates: map[string]string{"daemonjob": daemonJob},
	}
}

// daemonJob is the DaemonJob of the stories.
const daemonJob = `
apiVersion: api.practice.com/v1alpha1
kind: DaemonJob
metadata: {name: demo}
spec:
  template:
    spec:
      containers: [{name: main, image: "busybox:1.28", command: ["true"]}]
`
