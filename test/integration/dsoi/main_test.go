// Package dsoi tests the DSOI engine on a real API server and the controllers of Kubernetes, with simulated nodes.
package dsoi

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testcluster.Run(m, testcluster.WithNodes(), testcluster.WithFakeNodes(4)))
}
