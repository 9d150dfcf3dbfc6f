// Package fluxjob tests FluxJobs and FluxSetups on a real API server, with the operator of the MiniClusters, and nodes
// that run what their pods say. Flux is disabled in them: what is tested is the queue.
package fluxjob

import (
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Run(m)) }
