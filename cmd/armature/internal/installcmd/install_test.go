package installcmd

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/armature-dev/armature/config/crd"
)

// withStatus returns an earlier or later version of a CRD, which has other fields in the status, too.
func withStatus(t *testing.T, crd *unstructured.Unstructured, fields ...string) *unstructured.Unstructured {
	t.Helper()
	other := crd.DeepCopy()
	versions, _, err := unstructured.NestedSlice(other.Object, "spec", "versions")
	require.NoError(t, err)
	for _, field := range fields {
		require.NoError(t, unstructured.SetNestedMap(versions[0].(map[string]any), map[string]any{"type": "integer"},
			"schema", "openAPIV3Schema", "properties", "status", "properties", field))
	}
	require.NoError(t, unstructured.SetNestedSlice(other.Object, versions, "spec", "versions"))
	return other
}

// A CRD of a FluxSetup from before v0.1.0 has fields that this version renamed. It isn't a newer one.
func TestRenamedFieldsAreNoSignOfANewerCRD(t *testing.T) {
	wanted, err := crd.All()
	require.NoError(t, err)
	named := func(name string) *unstructured.Unstructured {
		i := slices.IndexFunc(wanted, func(u *unstructured.Unstructured) bool { return u.GetName() == name })
		require.GreaterOrEqual(t, i, 0, name)
		return wanted[i]
	}
	setups, jobs := named("fluxsetups.api.practice.com"), named("fluxjobs.api.practice.com")
	in := &installer{}
	assert.NoError(t, in.check(withStatus(t, setups, "pending", "admitted", "longestWaitSince", "marks"), setups))
	assert.ErrorContains(t, in.check(withStatus(t, setups, "pending", "later"), setups), "doesn't know v1alpha1 status.later")
	assert.ErrorContains(t, in.check(withStatus(t, jobs, "pending"), jobs), "doesn't know v1alpha1 status.pending")
}

// Fields that get lost are no upgrade.
func TestOutcome(t *testing.T) {
	wanted, err := crd.All()
	require.NoError(t, err)
	want, got := wanted[0], wanted[0].DeepCopy()
	got.SetGeneration(2)
	assert.Equal(t, "created", outcome(nil, want, got))
	assert.Equal(t, "unchanged", outcome(got, want, got))
	assert.Equal(t, "upgraded", outcome(want, want, got))
	assert.Equal(t, "replaced", outcome(withStatus(t, want, "later"), want, got))
}

// The API server serves a CRD that is being deleted until its objects are gone, and then it is gone as well.
func TestCRDThatIsBeingDeletedIsRefused(t *testing.T) {
	wanted, err := crd.All()
	require.NoError(t, err)
	have := wanted[0].DeepCopy()
	at := metav1.Now()
	have.SetDeletionTimestamp(&at)
	for _, force := range []bool{false, true} {
		err := (&installer{force: force}).check(have, wanted[0])
		assert.ErrorContains(t, err, "the CRD "+have.GetName()+" is being deleted")
	}
	require.NoError(t, unstructured.SetNestedSlice(have.Object, []any{map[string]any{"type": "Established", "status": "True"}}, "status", "conditions"))
	_, err = isServed(have)
	assert.ErrorContains(t, err, "is being deleted")
	have.SetDeletionTimestamp(nil)
	served, err := isServed(have)
	require.NoError(t, err)
	assert.True(t, served)
}
