package envtest_test

import (
	"path/filepath"

	"github.com/armature-dev/armature/devcluster"
	"github.com/armature-dev/armature/devcluster/envtest"
)

// A suite of kubebuilder after its import has changed. It creates the pods of Jobs itself, so the real controller doesn't.
func ExampleEnvironment() {
	_ = func() error {
		testEnv := &envtest.Environment{
			CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
			ErrorIfCRDPathMissing: true,
		}
		testEnv.Use(devcluster.WithoutControllers())
		config, err := testEnv.Start()
		if err != nil {
			return err
		}
		_ = config // for client.New and ctrl.NewManager
		return testEnv.Stop()
	}
}
