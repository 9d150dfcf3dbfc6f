// Package replicajob tests the ReplicaJob operator on a real API server, with nodes that run what the pods say.
package replicajob

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(testcluster.Run(m, testcluster.WithFlags(
		"--feature-gates=GenericWorkload=true", "--runtime-config=scheduling.k8s.io/v1beta1=true"))) // gang scheduling
}
