//go:build e2e

package upgrade

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/test/testcluster"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	policy, err := filepath.Abs("audit-policy.yaml")
	if err != nil {
		panic(err)
	}
	os.Exit(testcluster.Run(m, testcluster.WithFlags("--audit-policy", policy)))
}
