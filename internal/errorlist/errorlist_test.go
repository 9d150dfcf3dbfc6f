package errorlist

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	a, b, c := errors.New("a"), errors.New("b"), errors.New("c\nd")
	two := fmt.Errorf("%w: %w", a, b)
	for name, tt := range map[string]struct {
		err  error
		want []error
	}{
		"nil":              {nil, nil},
		"one":              {a, []error{a}},
		"joined":           {errors.Join(a, nil, c, b), []error{a, c, b}},
		"joined alone":     {errors.Join(a), []error{a}},
		"joined deeply":    {errors.Join(a, fmt.Errorf("in: %w", errors.Join(b, c))), []error{a, b, c}},
		"two causes":       {two, []error{two}},
		"joined, causes":   {errors.Join(two, c), []error{two, c}},
		"wrapped":          {fmt.Errorf("in: %w", errors.Join(a, b)), []error{a, b}},
		"the same, twice":  {errors.Join(a, a), []error{a, a}},
		"an empty message": {errors.Join(errors.New(""), a), []error{errors.New(""), a}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, Of(tt.err)) })
	}
}
