package supervisor

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

// TestMain makes this program a component, as startProcess runs one. Its first run prints the argument after the component's name and
// fails. The file that the next argument names tells a later run that it isn't the first.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != component.Command {
		os.Exit(m.Run())
	}
	if file, err := os.OpenFile(os.Args[4], os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		file.Close()
		fmt.Println(os.Args[3])
		os.Exit(1)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestStartSurvivesASlowEtcdOnly(t *testing.T) {
	for _, test := range []struct {
		said     string
		survives bool
	}{
		{`"command failed" err="error creating storage factory: etcd grpc connection not ready: context deadline exceeded"`, true},
		{`"command failed" err="invalid argument"`, false},
	} {
		t.Run(test.said, func(t *testing.T) {
			dir := clusterdir.Dir(filepath.Join(t.TempDir(), "cluster"))
			require.NoError(t, dir.Create())
			lock, err := dir.Lock()
			require.NoError(t, err)
			defer lock.Close()
			ctx, fail := context.WithCancelCause(t.Context())
			s := New(dir, &clusterdir.Settings{}, time.Minute, io.Discard)
			s.lock, s.state, s.fail, s.keepers = lock, newState(dir, "v1"), fail, map[string]*keeper{}
			require.NoError(t, s.keep(spec{name: component.APIServer, args: []string{test.said, filepath.Join(t.TempDir(), "failed")}}))
			k := s.keepers[component.APIServer]
			restarted := func() bool {
				run, err := dir.LoadRun()
				return err == nil && run.Components[0].Restarts == 1
			}
			if !test.survives {
				<-k.done
				require.ErrorContains(t, context.Cause(ctx), test.said)
				assert.False(t, restarted())
				return
			}
			require.Eventually(t, restarted, time.Minute, pollEvery)
			close(k.stop)
			<-k.done
			require.NoError(t, context.Cause(ctx))
		})
	}
}
