package builder

import (
	"errors"
)

// explain says more about a write that failed than the API server does: which field is too large, or that the cluster
// doesn't know the kind.
func (w *write) explain(p *pass, err error) error {
	if err == nil {
		return nil
	}
	d := w.desired
	if isKindGone(err) {
		return p.engine.kinds.noteMissing(d.kind.gvk, err)
	}
	about := (*Error)(nil)
	if !isTooLarge(err) || !errors.As(err, &about) {
		return err
	}
	fields := d.fields
	if fields == nil {
		if fields, _ = storedFields(d.object); fields == nil { // what can't be rendered can't be looked at
			return err
		}
	}
	field, explained := explainSize(about.Err, d.key.Kind, fields)
	about.Err = explained
	if field != "" {
		about.fields = []string{field}
	}
	return err
}
