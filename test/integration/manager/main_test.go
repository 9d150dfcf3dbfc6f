// Package manager tests bin/armature as a process, on a real API server.
package manager

import (
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Run(m)) }
