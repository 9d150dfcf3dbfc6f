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
	policies := []ChildOption{KeepImmutable(), RecreateImmutable("")}
	for _, dependents := range []metav1.DeletionPropagation{
		metav1.DeletePropagationOrphan, metav1.DeletePropagationForeground, metav1.DeletePropagationBackground,
	} {
		policies = append(policies, RecreateImmutable(dependents))
	}
	for _, policy := range policies {
		_, err := engineWith(interceptor.Funcs{}).For(owner()).ConfigMap(config("c"), policy).Reconcile(t.Context())
		assert.NoError(t, err, policy)
	}
	_, err := engineWith(interceptor.Funcs{}).For(owner()).
		ConfigMap(config("c"), RecreateImmutable("Now")).Reconcile(t.Context())
	assert.ErrorIs(t, err, ErrMisuse)
	assert.ErrorContains(t, err, `"Now"`)
}

func TestTheLastPolicyCounts(t *testing.T) {
	hash := func(opts ...ChildOption) uint64 {
		h, ok := Want(deployment("web"), opts...).desired.Hash()
		require.True(t, ok)
		return h
	}
	keep, recreate := KeepImmutable(), RecreateImmutable("")
	assert.Equal(t, hash(keep), hash(recreate, keep))
	assert.Equal(t, hash(recreate), hash(keep, recreate))
	assert.NotEqual(t, hash(keep), hash(recreate))
	assert.NotEqual(t, hash(RecreateImmutable(metav1.DeletePropagationOrphan)), hash(recreate))
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
