package operator_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/crdtest"
	"github.com/armature-dev/armature/builder/program"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/internal/pgtest"
)

// The operator can read every object that the CRD admits. One that it can't read would stop it for all namespaces.
func TestCRD(t *testing.T) { crdtest.Check(t, program.NewScheme(v1.AddToScheme), "../config") }

// The role, which go generate writes, has what the operator needs, and no more.
func TestRole(t *testing.T) {
	f := newFixture(t, orders(shop()))
	buildertest.CheckRole(t, "../role.yaml", f.scenario(isReady, change(func(db *v1.Database) { db.Spec.Users = nil }), deleted))
}

// A password is in its Secret, and nowhere else: in no journal, no status, no event, and in no log of the server.
func TestPasswordIsNowhere(t *testing.T) {
	f := newFixture(t, orders(shop()))
	for _, obj := range buildertest.Settle(t, f.scenario(isReady)).Objects() {
		text, err := json.Marshal(obj)
		require.NoError(t, err)
		_, isSecret := obj.(*corev1.Secret)
		if isSecret {
			continue
		}
		assert.NotContains(t, string(text), passwordOf("shop"))
	}
	assert.NotContains(t, pgtest.Log(t), passwordOf("shop"))
}
