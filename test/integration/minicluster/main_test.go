// Package minicluster tests the MiniCluster operator on a real API server, with nodes that run what its pods say. Where
// there is no flux, a stand-in of it runs: this test binary, under that name (see standin_test.go).
package minicluster

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "flux" {
		os.Exit(standIn(os.Args[1:]))
	}
	_ = flag.Set("test.parallel", "6") // tests wait more than they compute; the command line has the last word
	os.Exit(testcluster.Run(m))
}
