package buildertest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
)

func TestFaultsOfTheNthCall(t *testing.T) {
	c := newServer().Client()
	c.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, Kind: configMapKind, After: 1, Times: 1, Error: buildertest.QuotaExceeded})
	require.NoError(t, c.Create(t.Context(), configMap("a")))
	err := c.Create(t.Context(), configMap("b"))
	require.True(t, apierrors.IsForbidden(err), err)
	assert.ErrorContains(t, err, "exceeded quota")
	require.NoError(t, c.Create(t.Context(), configMap("b")))
	require.NoError(t, c.Create(t.Context(), deployment("web", "i")))
}

func TestFaultsByNameAndSubresource(t *testing.T) {
	s := newServer(configMap("a"), configMap("b"), deployment("web", "i"))
	c := s.Client()
	c.Fail(
		buildertest.Fault{Name: "b", Error: buildertest.Timeout},
		buildertest.Fault{Subresource: "status", Error: buildertest.WebhookDenied},
	)
	assert.True(t, exists(t, c, configMap("a")))
	require.True(t, apierrors.IsTimeout(c.Delete(t.Context(), configMap("b"))))
	web := deployment("web", "i")
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(web), web))
	require.ErrorContains(t, c.Status().Update(t.Context(), web), "denied the request")
	require.NoError(t, c.Update(t.Context(), web))
	c.Heal()
	require.NoError(t, c.Status().Update(t.Context(), web))
}

func TestFaultAfterTheWriteWasDone(t *testing.T) {
	s := newServer()
	c := s.Client()
	c.Fail(buildertest.Fault{Verb: buildertest.VerbCreate, AfterWrite: true, Times: 1, Error: buildertest.Timeout})
	require.True(t, apierrors.IsTimeout(c.Create(t.Context(), configMap("a"))))
	require.True(t, apierrors.IsAlreadyExists(c.Create(t.Context(), configMap("a"))))
}

func TestErrorsAreOfTheirKind(t *testing.T) {
	call := buildertest.Call{Verb: buildertest.VerbUpdate, Kind: configMapKind, Namespace: "default", Name: "a"}
	for name, tt := range map[string]struct {
		make func(buildertest.Call) error
		is   func(error) bool
	}{
		"conflict": {buildertest.Conflict, apierrors.IsConflict}, "timeout": {buildertest.Timeout, apierrors.IsTimeout},
		"internal": {buildertest.Internal, apierrors.IsInternalError}, "busy": {buildertest.TooManyRequests, apierrors.IsTooManyRequests},
		"forbidden": {buildertest.Forbidden, apierrors.IsForbidden}, "quota": {buildertest.QuotaExceeded, apierrors.IsForbidden},
		"webhook": {buildertest.WebhookDenied, apierrors.IsForbidden},
	} {
		assert.True(t, tt.is(tt.make(call)), "%s: %v", name, tt.make(call))
	}
}
