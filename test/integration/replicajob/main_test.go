// Package replicajob tests the ReplicaJob operator on a real API server, with nodes that run what the pods say.
package replicajob

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
	os.Exit(testcluster.Run(m, testcluster.WithFlags(
		"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1beta1=true"))) // gang scheduling
}
