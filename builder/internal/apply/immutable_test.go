package apply

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

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
	w := &Write{Desired: stamped(t, Child{Object: wanted}), Observed: found}
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
	assert.Nil(t, texts(apierrors.NewConflict(corev1.Resource("pods"), "p", errors.New("changed"))))

	secret := &Write{
		Desired: stamped(t, Child{Object: &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"p": "new"},
		}}),
		Observed: &corev1.Secret{Data: map[string][]byte{"p": []byte("old")}},
	}
	diffs := secret.refusedDifferences(refusal(field.Forbidden(field.NewPath("data"), "no")))
	require.Len(t, diffs, 1)
	assert.Equal(t, "data.p", diffs[0].String(), "what is secret isn't told")
}
