package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestPoliciesAreChecked(t *testing.T) {
	orphan := Recreate{Dependents: metav1.DeletePropagationOrphan}
	foreground, background := Recreate{Dependents: metav1.DeletePropagationForeground}, Recreate{Dependents: metav1.DeletePropagationBackground}
	for _, policy := range []ImmutablePolicy{nil, Keep{}, Recreate{}, orphan, foreground, background} {
		_, err := engineWith(interceptor.Funcs{}).For(owner()).ConfigMap(config("c"), OnImmutable(policy)).Reconcile(t.Context())
		assert.NoError(t, err, policy)
	}
	_, err := engineWith(interceptor.Funcs{}).For(owner()).
		ConfigMap(config("c"), OnImmutable(Recreate{Dependents: "Now"})).Reconcile(t.Context())
	assert.ErrorIs(t, err, ErrMisuse)
	assert.ErrorContains(t, err, `"Now"`)
}

func TestTheLastPolicyCounts(t *testing.T) {
	hash := func(opts ...ChildOption) uint64 {
		h, ok := Want(deployment("web"), opts...).desired.Hash()
		require.True(t, ok)
		return h
	}
	keep, recreate := OnImmutable(Keep{}), OnImmutable(Recreate{})
	assert.Equal(t, hash(keep), hash(recreate, keep))
	assert.Equal(t, hash(recreate), hash(keep, recreate))
	assert.NotEqual(t, hash(keep), hash(recreate))
	assert.NotEqual(t, hash(OnImmutable(Recreate{Dependents: metav1.DeletePropagationOrphan})), hash(recreate))
	assert.Equal(t, hash(OnImmutable(nil)), hash(recreate, OnImmutable(nil)))
}

func refusal(causes ...*field.Error) error {
	return apierrors.NewInvalid(schema.GroupKind{Kind: "X"}, "x", causes)
}

func TestFieldsOfErrors(t *testing.T) {
	about := of(refusal(field.Invalid(field.NewPath("a", "b"), 1, "x"), field.Required(field.NewPath("c"), "y"), field.Required(field.NewPath("c"), "z"))).(*Error)
	assert.Equal(t, []string{"a.b", "c"}, about.Fields())
	assert.Nil(t, of(conflict).(*Error).Fields())
	assert.Nil(t, of(ErrNotOwned).(*Error).Fields())
	about.fields = []string{"a.b.c"}
	assert.Equal(t, []string{"a.b.c"}, about.Fields())
}
