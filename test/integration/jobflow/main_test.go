// Package jobflow tests the JobFlow operator on a real API server, with nodes that run what the Jobs say.
package jobflow

import (
	"flag"
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // tests wait more than they compute; the command line has the last word
	os.Exit(testcluster.Run(m))
}
