package turns

import (
	"fmt"
	"strconv"
	"strings"
)

// Limit is the number of owners that may be in their turn at once. 0 is no limit, and then there are no turns.
type Limit struct {
	number  int
	percent bool
}

// ParseLimit reads a limit: a number such as "1", a percentage such as "10%", and "unlimited" or "0" for none.
func ParseLimit(text string) (Limit, error) {
	if text == "unlimited" {
		return Limit{}, nil
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 || percent && (n < 1 || n > 100) {
		return Limit{}, fmt.Errorf(
			`the maximum number of owners is %q; accepted are a number, a percentage from "1%%" to "100%%", and "unlimited"`, text)
	}
	return Limit{n, percent}, nil
}

// IsUnlimited reports whether there is no limit.
func (l Limit) IsUnlimited() bool { return l.number == 0 }

// Of returns the limit for a number of owners. A percentage is rounded up, so that it is never 0.
func (l Limit) Of(owners int) int {
	if !l.percent {
		return l.number
	}
	return max(1, (owners*l.number+99)/100)
}

// String returns the limit as ParseLimit reads it.
func (l Limit) String() string {
	switch {
	case l.IsUnlimited():
		return "unlimited"
	case l.percent:
		return strconv.Itoa(l.number) + "%"
	default:
		return strconv.Itoa(l.number)
	}
}
