package install

import (
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestReleases has several releases beside each other, each in a namespace of its own, which spares the time that each waits.
func TestReleases(t *testing.T) {
	c := newCluster(t)
	c.removeCRDs()
	out, err := c.install()
	require.NoError(t, err, out)
	c.awaitKinds()
	noted := &verbs{asked: map[string]bool{}}
	with := func(test func(*testing.T, *verbs)) func(*testing.T) { return func(t *testing.T) { test(t, noted) } }
	t.Run("all", func(t *testing.T) { // ends when all have ended
		t.Run("admission", testAdmission)
		t.Run("cert-manager", testCertManager)
		t.Run("forbidden", testForbiddenIsSeen)
		t.Run("metrics", with(testMetricsAreForThoseWhoMay))
		t.Run("self-managed", with(testSelfManagedCertificates))
		t.Run("shards", testShards)
	})
	if some := flag.Lookup("test.run").Value.String(); !t.Failed() && !strings.Contains(some, "/") { // all of them ran
		assert.Empty(t, noted.unused(t), "a permission that nothing uses")
	}
}

// A manager that isn't allowed its roles any more says so; that is what the other tests rely on.
func testForbiddenIsSeen(t *testing.T) {
	t.Parallel()
	c := newRelease(t, "armature-forbidden")
	c.installChart(thisChart(t), alone(c.home, "jobflow")...)
	binding := &unstructured.Unstructured{}
	binding.SetAPIVersion("rbac.authorization.k8s.io/v1")
	binding.SetKind("RoleBinding")
	binding.SetNamespace(c.home)
	binding.SetName(c.release + "-jobflow")
	require.NoError(t, c.client.Delete(t.Context(), binding))
	manager := c.manager()
	eventually(t, "it is said", func() bool { return strings.Contains(manager.Log.String(), "forbidden") })
}
