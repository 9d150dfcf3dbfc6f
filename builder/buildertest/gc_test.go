package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func collectorCalls(s *buildertest.Server) []buildertest.Call {
	return s.Ledger().Where(func(c buildertest.Call) bool { return c.Client == buildertest.GarbageCollector })
}

func TestObjectOfAFormerOwnerIsCollected(t *testing.T) {
	former, now := configMap("owner"), configMap("owner")
	former.UID, now.UID = "1", "2"
	s := newServer(now)
	c := s.Client()
	require.NoError(t, c.Create(t.Context(), owned(configMap("child"), former), client.DryRunAll))
	assert.Empty(t, collectorCalls(s), "a dry run creates nothing")
	require.NoError(t, c.Create(t.Context(), owned(configMap("child"), former)), "the client doesn't notice")
	assert.False(t, exists(t, c, configMap("child")))
	assert.True(t, exists(t, c, now))
	assert.Len(t, collectorCalls(s), 1)

	child := configMap("child")
	require.NoError(t, c.Create(t.Context(), owned(child, now)))
	assert.True(t, exists(t, c, child))
	child.OwnerReferences[0].UID = former.UID
	require.NoError(t, c.Update(t.Context(), child))
	assert.False(t, exists(t, c, child))
}

func TestObjectWithOneOwnerLosesItsOtherReferences(t *testing.T) {
	owner, gone := configMap("owner"), configMap("gone")
	owner.UID, gone.UID = "1", "2"
	s := newServer(owner)
	child := configMap("child")
	child.SetOwnerReferences(append(owned(configMap(""), gone).GetOwnerReferences(), owned(configMap(""), owner).GetOwnerReferences()...))
	child.OwnerReferences[0].Controller = nil
	require.NoError(t, s.Client().Create(t.Context(), child))
	require.NoError(t, s.Client().Get(t.Context(), client.ObjectKeyFromObject(child), child))
	require.Len(t, child.OwnerReferences, 1)
	assert.Equal(t, owner.UID, child.OwnerReferences[0].UID)
}

func TestObjectOfAnAbsentOwnerStaysUntilGarbageIsCollected(t *testing.T) {
	gone := configMap("gone")
	gone.UID = "1"
	s := buildertest.NewServer(scheme.Scheme, buildertest.WithManualGarbageCollection())
	require.NoError(t, s.Client().Create(t.Context(), owned(configMap("child"), gone)))
	assert.True(t, exists(t, s.Client(), configMap("child")))
	s.CollectGarbage()
	assert.Empty(t, s.Objects())
}

func TestWrittenObjectStaysWhoseOwnersTheCollectorCannotJudge(t *testing.T) {
	gone := configMap("gone")
	gone.UID = "1"
	unknown := owned(configMap("unknown"), gone)
	unknown.SetOwnerReferences(append(unknown.GetOwnerReferences(),
		metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Unknown", Name: "x", UID: "2"}))
	s := newServer()
	require.NoError(t, s.Client().Create(t.Context(), unknown))
	require.NoError(t, s.Client().Create(t.Context(), owned(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cluster-scoped"}}, gone)))
	assert.Len(t, s.Objects(), 2)
	assert.Empty(t, collectorCalls(s))
}
