package builder

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/internal/text"
	"github.com/armature-dev/armature/store"
)

var (
	pods       = corev1.Resource("pods")
	invalid    = apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)
	conflict   = apierrors.NewConflict(pods, "p", errors.New("changed"))
	full       = apierrors.NewForbidden(pods, "p", errors.New("exceeded quota"))
	errMisused = fmt.Errorf("%w: a nil: %w", ErrMisuse, errors.New("cause"))
)

func of(err error) error {
	return &Error{Key: store.Key{Kind: "Pod", Name: "p"}, Operation: "create", cause: err}
}

func denied(code int32, message string) error {
	err := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil)
	err.ErrStatus.Code, err.ErrStatus.Message = code, message
	return err
}

func TestAnErrorWithoutACause(t *testing.T) {
	err := &Error{Operation: "apply", Key: store.Key{Kind: "ConfigMap", Name: "a"}}
	assert.Equal(t, "apply "+err.Key.String(), err.Error())
	assert.NoError(t, errors.Unwrap(err))
}

// deniedAsConflict is the answer of a webhook that has chosen the code and reason of a conflict.
func deniedAsConflict() error {
	err := apierrors.NewConflict(pods, "p", nil)
	err.ErrStatus.Message = `admission webhook "x" denied the request: no`
	return err
}

func TestWhichErrorsAreTerminal(t *testing.T) {
	cases := map[string]struct {
		err                error
		terminal, conflict bool
	}{
		"nil":                  {nil, false, false},
		"joined nil":           {errors.Join(nil, nil), false, false},
		"invalid":              {of(invalid), true, false},
		"bad request":          {of(apierrors.NewBadRequest("x")), true, false},
		"too large":            {of(apierrors.NewRequestEntityTooLargeError("x")), true, false},
		"misuse, with a cause": {errMisused, true, false},
		"quota":                {of(full), false, false},
		"conflict":             {of(conflict), false, true},
		"not owned":            {of(ErrNotOwned), false, false},
		"not found":            {of(apierrors.NewNotFound(pods, "p")), false, false},
		"timeout":              {of(apierrors.NewTimeoutError("x", 1)), false, false},
		"network":              {of(http.ErrHandlerTimeout), false, false},
		"all invalid":          {errors.Join(of(invalid), errMisused), true, false},
		"one of two invalid":   {errors.Join(of(invalid), of(full)), false, false},
		"all conflicts":        {errors.Join(of(conflict), errors.Join(of(conflict))), false, true},
		"conflict and invalid": {errors.Join(of(conflict), of(invalid)), false, false},
		"joined, wrapped":      {fmt.Errorf("pass: %w", errors.Join(of(invalid), of(full))), false, false},
		"denied by a webhook":  {of(denied(422, `admission webhook "x" denied the request: no`)), false, false},
		"denied with 409":      {of(deniedAsConflict()), false, false},
		"denied by a policy":   {of(denied(422, `ValidatingAdmissionPolicy 'x' with binding 'y' denied request: no`)), false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.terminal, IsTerminal(c.err))
			assert.Equal(t, c.conflict, isConflict(c.err))
		})
	}
}

func TestErrorsAreSeenThrough(t *testing.T) {
	err := errors.Join(errors.New("other"), of(full))
	var about *Error
	assert.ErrorAs(t, err, &about)
	assert.Equal(t, "p", about.Key.Name)
	assert.True(t, apierrors.IsForbidden(about))
	assert.ErrorContains(t, about, "create Pod p: ")
}

func TestSummariesAreBounded(t *testing.T) {
	var many []error
	for range 100 {
		many = append(many, errors.New(strings.Repeat("é", 10000)))
	}
	summary := summarize(errors.Join(many...))
	assert.LessOrEqual(t, len(summary), text.MaxSummary)
	assert.True(t, strings.HasSuffix(summary, "; and 97 more"))
	assert.Equal(t, "a; b", summarize(errors.Join(errors.New("a"), errors.New("b"))))
}

// The rooms of the builder return failures of their own: users get an *Error for each, and nothing of it is lost.
func TestFailuresOfStepsAreErrors(t *testing.T) {
	web := &failure.Error{Key: store.Key{Kind: "Pod", Name: "web"}, Operation: "apply", Err: invalid, Object: config("web"), Fields: []string{"spec.a"}}
	other := &failure.Error{Key: store.Key{Kind: "Pod", Name: "other"}, Operation: "create", Err: full}
	joined := errors.Join(errors.Join(web), errMisused, other)
	public := publicError(joined)
	assert.Equal(t, joined.Error(), public.Error())
	assert.NotErrorAs(t, public, new(*failure.Error))
	var about *Error
	assert.ErrorAs(t, public, &about)
	assert.Equal(t, &Error{Key: web.Key, Operation: "apply", cause: invalid, object: web.Object, fields: web.Fields}, about)
	assert.ErrorIs(t, public, ErrMisuse)
	assert.True(t, apierrors.IsForbidden(publicError(other)))
	assert.NoError(t, publicError(nil))
	assert.NoError(t, publicError(errors.Join(nil, nil)))
	assert.Same(t, errMisused, publicError(errMisused), "an error of two causes is one error")
}

// The API server lists wrong labels in another order each time.
func TestSummaryOfFieldsIsInOrder(t *testing.T) {
	refused := func(values ...string) error {
		var errs field.ErrorList
		for _, value := range values {
			errs = append(errs, field.Invalid(field.NewPath("metadata", "labels"), value, "is wrong"))
		}
		return &Error{Operation: "create", cause: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "a", errs)}
	}
	assert.Equal(t, summarize(refused("a b", "c d", "e f")), summarize(refused("e f", "c d", "a b", "c d")))
	assert.Contains(t, summarize(refused("e f", "a b")), `[metadata.labels: Invalid value: "a b": is wrong, metadata.labels: Invalid value: "e f": is wrong]`)
}
