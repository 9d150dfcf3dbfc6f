package apply

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/failure"
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
	texts := func(err error) []string { return refusedFields(t, wanted, found, err) }
	spec := field.NewPath("spec")
	assert.Equal(t, []string{`spec.selector.matchLabels.app (is unset, desired "x")`}, texts(refusal(field.Invalid(spec.Child("selector"), nil, "field is immutable"))))
	assert.Equal(t, []string{`spec.minReadySeconds (is "3", desired "5")`},
		texts(refusal(field.Forbidden(spec, "updates to fields other than 'template', 'selector' are forbidden"))))
	assert.Equal(t, []string{"spec.none"}, texts(refusal(field.Forbidden(spec.Child("none"), "no"))))
	assert.Equal(t, []string{`spec.minReadySeconds (is "3", desired "5")`},
		texts(refusal(field.Forbidden(spec.Child("minReadySeconds"), "no"), field.Forbidden(spec.Child("minReadySeconds"), "no"))))
	assert.Nil(t, texts(apierrors.NewConflict(corev1.Resource("pods"), "p", errors.New("changed"))))

	secret := func(value string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"p": []byte(value)}}
	}
	assert.Equal(t, []string{"data.p"}, refusedFields(t, secret("new"), secret("old"), refusal(field.Forbidden(field.NewPath("data"), "no"))),
		"what is secret isn't told")
}

// refusedFields returns what the error about a refused change says of the fields.
func refusedFields(t *testing.T, desired, found client.Object, err error) []string {
	w := &Write{Desired: stamped(t, Child{Object: desired}), Observed: found}
	r, failed := w.newRefit(newCluster(t), nil, false)
	require.NoError(t, failed)
	refused := (*failure.Error)(nil)
	require.ErrorAs(t, w.immutableError(err, r), &refused)
	_, said, _ := strings.Cut(refused.Err.Error(), ": ")
	said, _, _ = strings.Cut(said, ";")
	if said == "" {
		return nil
	}
	texts := strings.Split(said, "), ")
	for i := range texts[:len(texts)-1] {
		texts[i] += ")"
	}
	assert.Len(t, refused.Fields, len(texts))
	return texts
}
