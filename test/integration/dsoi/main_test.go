// Package dsoi tests the DSOI engine on a real API server and the controllers of Kubernetes, with simulated nodes.
package dsoi

import (
	"flag"
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	_ = flag.Set("test.parallel", "6") // tests wait more than they compute; the command line has the last word
	os.Exit(testcluster.Run(m, testcluster.WithNodes(), testcluster.WithFakeNodes(4)))
}
