// Package cli tests the commands of bin/armature that people type, on a real API server.
package cli

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
	_ = flag.Set("test.parallel", "4") // tests wait more than they compute; the command line has the last word
	os.Exit(testcluster.Run(m))
}
