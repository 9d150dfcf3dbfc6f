// Package install tests how Armature gets into a cluster and out of it: the chart, by helm, with the manager as a process
// under the chart's service account; and "armature install". It has a cluster of its own, since it takes CRDs away.
package install

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
	os.Unsetenv("ARMATURE_TEST_KUBECONFIG")
	os.Exit(testcluster.Run(m, testcluster.WithNodes("minikube"), testcluster.WithFakeNodes(1)))
}
