// Package daemonjob tests the DaemonJob operator on a real API server: on nodes that run what the Jobs say, on 50 that
// only go through the motions, and on ones that tests add, cordon and take away.
package daemonjob

import (
	"flag"
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

const fakeNodes = 50

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // tests wait more than they compute; the command line has the last word
	os.Exit(testcluster.Run(m, testcluster.WithNodes("minikube", "node-2", "node-3"), testcluster.WithFakeNodes(fakeNodes)))
}
