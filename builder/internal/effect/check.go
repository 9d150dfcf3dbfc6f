package effect

import (
	"errors"
	"fmt"

	"github.com/armature-dev/armature/builder/internal/failure"
)

// CheckPerformers returns the errors of an operator's performers.
func CheckPerformers(declared []Performer) error {
	var errs []error
	known := map[string]bool{}
	for _, p := range declared {
		switch {
		case p.Name == "":
			errs = append(errs, fmt.Errorf("%w: a performer has no name", failure.ErrMisuse))
		case p.Do == nil:
			errs = append(errs, fmt.Errorf("%w: performer %q is nil", failure.ErrMisuse, p.Name))
		case known[p.Name]:
			errs = append(errs, fmt.Errorf("%w: there are two performers %q", failure.ErrMisuse, p.Name))
		case p.Every <= 0 || p.Timeout <= 0:
			errs = append(errs, fmt.Errorf("%w: performer %q observes every %s with a timeout of %s; both must be above 0",
				failure.ErrMisuse, p.Name, p.Every, p.Timeout))
		}
		known[p.Name] = true
	}
	return errors.Join(errs...)
}

// Check returns the error of an effect of an owner in a namespace. performers are those of the operator; nil: none. hasOption reports
// whether the effect has an option of children that can't be beside it.
func (d *Desired) Check(performers *Performers, namespace string, hasOption bool) error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: effect %s %q: %s", failure.ErrMisuse, d.Performer, d.Key, fmt.Sprintf(format, args...))
	}
	switch {
	case d.Err != nil:
		return fmt.Errorf("%w: %w", failure.ErrMisuse, d.Err)
	case namespace == "":
		return wrong("the owner has no namespace; only namespaced owners have effects")
	case d.Key == "":
		return wrong("Key is empty; it must name what is outside, such as \"database/orders\"")
	case !performers.Has(d.Performer):
		return wrong("the operator has no performer of this name; add Owns(&appsv1.ControllerRevision{}, effects.PerformedBy(%q, ...))",
			d.Performer)
	case hasOption:
		return wrong("has an option of children; of those only InPhase can be beside an effect")
	}
	return nil
}
