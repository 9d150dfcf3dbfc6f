package failure

import "errors"

// ErrMisuse is the cause of errors that a retry can't fix: the program asks for what can't be.
var ErrMisuse = errors.New("builder misused")
