package exitcode

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOf(t *testing.T) {
	plain := errors.New("no connection")
	for _, tt := range []struct {
		err    error
		code   int
		silent bool
	}{
		{nil, 0, true},
		{plain, 1, false},
		{&Error{Code: Found}, 1, true},
		{Or(Trouble, plain), 2, false},
		{fmt.Errorf("explain: %w", Or(Trouble, plain)), 2, false},
		{Or(Trouble, &Error{Code: Found}), 1, true},
	} {
		code, silent := Of(tt.err)
		assert.Equal(t, tt.code, code, "%v", tt.err)
		assert.Equal(t, tt.silent, silent, "%v", tt.err)
	}
	assert.ErrorIs(t, Or(Trouble, plain), plain)
	assert.NoError(t, Or(Trouble, nil))
}
