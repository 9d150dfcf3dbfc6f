// Package apiserver tests what depends on settings of the API server that most clusters don't have, with a second API server that has
// them.
package apiserver

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Unsetenv("ARMATURE_TEST_KUBECONFIG") // the second API server needs the files of the first one
	os.Exit(testcluster.Run(m, testcluster.WithNodes(), testcluster.WithFakeNodes(1)))
}
