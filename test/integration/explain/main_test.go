// Package explain tests "armature explain" on situations that are made for real, on a real API server: each is broken in the way
// that people break it, and the command must name what is wrong.
package explain

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testcluster.Run(m, testcluster.WithNodes("minikube"), testcluster.WithFakeNodes(3)))
}
