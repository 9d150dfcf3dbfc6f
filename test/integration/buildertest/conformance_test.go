// Package buildertest holds the fake API server of builder/buildertest to a real one.
package buildertest

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest/conformance"
	"github.com/armature-dev/armature/test/testcluster"
)

var update = flag.Bool("update", false, "record the transcripts anew")

const packageDir = "../../../builder/buildertest/conformance"

func TestMain(m *testing.M) { os.Exit(testcluster.Run(m)) }

// TestRealOneDoesAsRecorded runs the cases on a real API server. The fake is held to the same transcripts by the tests
// of package conformance.
func TestRealOneDoesAsRecorded(t *testing.T) {
	testcluster.InstallCRDs(t, conformance.CRDs)
	c := newClient(t)
	for _, tt := range conformance.Cases() {
		t.Run(tt.Name, func(t *testing.T) {
			t.Parallel()
			compare(t, tt, c)
		})
	}
}

// TestRealControllersDoAsRecorded runs the cases of controllers, one by one, because they change nodes. The simulated world is held to
// the same transcripts.
func TestRealControllersDoAsRecorded(t *testing.T) {
	c := newClient(t)
	for _, tt := range conformance.ControllerCases() {
		t.Run(tt.Name, func(t *testing.T) { compare(t, tt, c) })
	}
}

func compare(t *testing.T, tt conformance.Case, c client.WithWatch) {
	got := tt.Run(t, conformance.Target{
		Client:     c,
		Namespaces: [2]string{testcluster.Namespace(t), testcluster.Namespace(t)},
		Await:      func(done func() bool) bool { return await(t.Context(), done) },
		Busy:       true,
	})
	if *update {
		require.NoError(t, os.WriteFile(filepath.Join(packageDir, tt.File()), []byte(got), 0o644))
		return
	}
	want, err := tt.Recorded()
	require.NoError(t, err)
	assert.Equal(t, want, got)
}

// newClient returns a client whose field owner is the conformance cases' own.
func newClient(t *testing.T) client.WithWatch {
	config := testcluster.Config(t)
	config.UserAgent = conformance.Manager
	config.QPS = -1
	c, err := client.NewWithWatch(config, client.Options{Scheme: conformance.Scheme()})
	require.NoError(t, err)
	return c
}

func await(ctx context.Context, done func() bool) bool {
	const every, patience = 20 * time.Millisecond, 60 * time.Second
	err := wait.PollUntilContextTimeout(ctx, every, patience, true, func(context.Context) (bool, error) { return done(), nil })
	return err == nil
}
