package errorlist

import (
	"errors"
	"strings"
)

// Of returns the errors joined in err, however deep, or err alone; none if err is nil. A text that wraps a list is dropped.
func Of(err error) []error {
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		list := listed(inner)
		if list == nil {
			continue
		}
		var all []error
		for _, e := range list {
			all = append(all, Of(e)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// listed returns the errors that err is a list of, nil if it is a single one. errors.Join doesn't export its type, but documents its
// text: those of its errors, one a line. An error of several causes has a text of its own.
func listed(err error) []error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	rest, list := err.Error(), several.Unwrap()
	for i, e := range list {
		if i > 0 {
			if rest, ok = strings.CutPrefix(rest, "\n"); !ok {
				return nil
			}
		}
		if rest, ok = strings.CutPrefix(rest, e.Error()); !ok {
			return nil
		}
	}
	if rest != "" {
		return nil
	}
	return list
}
