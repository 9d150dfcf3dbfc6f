package managercmd

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/rbac"
	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// The roles in config/rbac, whose comments say what each verb is for, permit what follows from the operators' declarations.
func TestRolesPermitWhatOperatorsDeclare(t *testing.T) {
	o := options{kube: connect.Flags(), leaderElectName: leaseName, leaderElectNamespace: "armature-system", lease: lease{duration: 15 * time.Second}}
	for _, op := range bundled {
		needed, err := rbac.Derive(rbac.Options{
			Scheme: newScheme(), CRDs: []string{"../../../../config/crd"}, Setup: func(mgr manager.Manager) error { return op.setup(mgr, o) },
		})
		require.NoError(t, err, op.name)
		files, err := filepath.Glob("../../../../config/rbac/operator-" + op.name + "*.yaml")
		require.NoError(t, err)
		require.NotEmpty(t, files, op.name)
		var granted []rbacv1.PolicyRule
		for _, file := range files {
			rules, err := rbac.ReadFile(file)
			require.NoError(t, err)
			granted = append(granted, rules...)
		}
		for _, p := range rbac.Permissions(needed) {
			assert.True(t, rbac.Allows(granted, p), "%s declares what needs: %s", op.name, p)
		}
	}
}
