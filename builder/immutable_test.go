package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
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
		assert.NoError(t, (&desired{child: Want(config("c"), OnImmutable(policy))}).checkPolicy(), policy)
	}
	_, err := engineWith(interceptor.Funcs{}).For(owner()).
		ConfigMap(config("c"), OnImmutable(Recreate{Dependents: "Now"})).Reconcile(t.Context())
	assert.ErrorIs(t, err, ErrMisuse)
	assert.ErrorContains(t, err, `"Now"`)
}

func TestTheLastPolicyCounts(t *testing.T) {
	hash := func(opts ...ChildOption) uint64 {
		h, ok := Want(deployment("web"), opts...).hash()
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

func TestRefusedDifferences(t *testing.T) {
	found := deployment("web")
	found.Spec.MinReadySeconds = 3
	wanted := deployment("web")
	wanted.Spec.Template.Spec.Containers[0].Image = "other"
	wanted.Spec.MinReadySeconds = 5
	wanted.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}
	w := &write{desired: stampedWith(t, wanted), observed: found}
	texts := func(err error) []string {
		var all []string
		for _, d := range w.refusedDifferences(err) {
			all = append(all, d.String())
		}
		return all
	}
	spec := field.NewPath("spec")
	assert.Equal(t, []string{`spec.selector.matchLabels.app (is unset, desired "x")`}, texts(refusal(field.Invalid(spec.Child("selector"), nil, "field is immutable"))))
	assert.Equal(t, []string{`spec.minReadySeconds (is "3", desired "5")`},
		texts(refusal(field.Forbidden(spec, "updates to fields other than 'template', 'selector' are forbidden"))))
	assert.Equal(t, []string{"spec.none"}, texts(refusal(field.Forbidden(spec.Child("none"), "no"))))
	assert.Equal(t, []string{`spec.minReadySeconds (is "3", desired "5")`},
		texts(refusal(field.Forbidden(spec.Child("minReadySeconds"), "no"), field.Forbidden(spec.Child("minReadySeconds"), "no"))))
	assert.Nil(t, texts(conflict))

	secret := &write{
		desired:  stampedWith(t, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"p": "new"}}),
		observed: &corev1.Secret{Data: map[string][]byte{"p": []byte("old")}},
	}
	diffs := secret.refusedDifferences(refusal(field.Forbidden(field.NewPath("data"), "no")))
	require.Len(t, diffs, 1)
	assert.Equal(t, "data.p", diffs[0].String(), "what is secret isn't told")
}

func TestFieldsOfErrors(t *testing.T) {
	about := of(refusal(field.Invalid(field.NewPath("a", "b"), 1, "x"), field.Required(field.NewPath("c"), "y"), field.Required(field.NewPath("c"), "z"))).(*Error)
	assert.Equal(t, []string{"a.b", "c"}, about.Fields())
	assert.Nil(t, of(conflict).(*Error).Fields())
	assert.Nil(t, of(ErrNotOwned).(*Error).Fields())
	about.fields = []string{"a.b.c"}
	assert.Equal(t, []string{"a.b.c"}, about.Fields())
}
