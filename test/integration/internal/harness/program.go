package harness

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/test/testcluster"
)

// counters names the directory for the counters of go test -cover. A pod's directory for temporary files goes with the pod.
const counters = "GOCOVERDIR"

// RunTestsOr is for the TestMain of an example whose pods run a program of its own. The test binary is that program as well, as no
// machine has another: it runs the tests, or, if its first argument is the command that the pods give, the program. What it returns
// is the exit code.
func RunTestsOr(m *testing.M, command string, program func(context.Context) error, opts ...testcluster.Option) int {
	ctrl.SetLogger(logr.Discard())
	if len(os.Args) < 2 || os.Args[1] != command {
		return testcluster.Run(m, opts...)
	}
	// A program with counters complains in the pod's log if it has no directory for them.
	if testing.CoverMode() != "" && os.Getenv(counters) == "" {
		os.Setenv(counters, os.TempDir())
	}
	if err := program(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Self returns the path of the test binary, for pods to run.
func Self(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return self
}

// ReadManifest reads an object of the place's namespace from a file, in which there is no other one.
func (p *Place) ReadManifest(file string, into client.Object) {
	p.T.Helper()
	text, err := os.ReadFile(file)
	require.NoError(p.T, err)
	require.NoError(p.T, yaml.UnmarshalStrict(text, into))
	into.SetNamespace(p.Namespace)
}
