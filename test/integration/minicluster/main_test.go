// Package minicluster tests the MiniCluster operator on a real API server, with nodes that run what its pods say. Where
// there is no flux, a stand-in of it runs: internal/flux.
package minicluster

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "6") // tests wait more than they compute; the command line has the last word
	code := testcluster.Run(m)
	if err := os.RemoveAll(standInDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}
