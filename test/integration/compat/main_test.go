// Package compat tests an operator that was written for github.com/datainfrahq/operator-runtime on a real API server,
// with package compat/builder in its place.
package compat

import (
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	os.Exit(testcluster.Run(m, testcluster.WithNodes(), testcluster.WithFakeNodes(2)))
}
