// Package jobflow tests the JobFlow operator on a real API server, with nodes that run what the Jobs say.
package jobflow

import (
	"os"
	"testing"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) { os.Exit(testcluster.Run(m)) }
