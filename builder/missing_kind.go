package builder

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder/internal/apistatus"
	"github.com/armature-dev/armature/internal/errorlist"
)

// missingKindRetry is how long no request is made about a kind that the cluster doesn't know, for any owner.
const missingKindRetry = time.Minute

// kindMissing is the error of all children of a kind that the cluster doesn't know: its CustomResourceDefinition isn't
// installed yet, or was deleted.
type kindMissing struct {
	gvk   schema.GroupVersionKind
	until time.Time // no request is made about the kind
	cause error
}

func (m *kindMissing) Error() string {
	return fmt.Sprintf("the cluster doesn't know the kind %s in version %s; install its CustomResourceDefinition, which is looked for once a minute",
		m.gvk.GroupKind(), m.gvk.Version)
}

// Unwrap returns what the API server, or its discovery, said.
func (m *kindMissing) Unwrap() error { return m.cause }

// isKindGone reports whether an error says that the cluster doesn't know a kind. A missing object is another matter.
func isKindGone(err error) bool {
	return meta.IsNoMatchError(err) ||
		apierrors.IsNotFound(err) && strings.Contains(apistatus.Message(err), "could not find the requested resource")
}

// isMissing returns an error if a kind is known to be missing, so that no request about it is made.
func (s *kinds) isMissing(gvk schema.GroupVersionKind) error {
	if known, ok := s.missing.Load(gvk); ok && s.now().Before(known.(*kindMissing).until) {
		return known.(*kindMissing)
	}
	return nil
}

// noteMissing returns an error about an object as one about its kind, and remembers it, if the cluster doesn't know that.
func (s *kinds) noteMissing(gvk schema.GroupVersionKind, err error) error {
	if already := (*kindMissing)(nil); errors.As(err, &already) {
		return already
	}
	if err == nil || !isKindGone(err) {
		return err
	}
	missing := &kindMissing{gvk, s.now().Add(missingKindRetry), err}
	s.missing.Store(gvk, missing)
	s.namespaced.Delete(gvk) // it may come back with another scope
	return missing
}

// tries separates one write of each kind that was missing, to be made before the others of the kind.
func (s *kinds) tries(writes []*write) (tries, others []*write) {
	for _, w := range writes {
		of := w.desired.kind.gvk
		if _, was := s.missing.Load(of); !was {
			continue
		}
		if !slices.ContainsFunc(tries, func(t *write) bool { return t.desired.kind.gvk == of }) {
			tries = append(tries, w)
		}
	}
	if len(tries) == 0 {
		return nil, writes
	}
	return tries, slices.DeleteFunc(slices.Clone(writes), func(w *write) bool { return slices.Contains(tries, w) })
}

// missingUntil returns when to look again after errors that are all about kinds that the cluster doesn't know; zero for
// others.
func missingUntil(err error) time.Time {
	var first time.Time
	for _, leaf := range errorlist.Of(err) {
		missing := (*kindMissing)(nil)
		if !errors.As(leaf, &missing) {
			return time.Time{}
		}
		if first.IsZero() || missing.until.Before(first) {
			first = missing.until
		}
	}
	return first
}

// onePerKind drops errors that repeat what another one says of their kind.
func onePerKind(all []error) []error {
	told := map[schema.GroupVersionKind]bool{}
	return slices.DeleteFunc(all, func(err error) bool {
		missing, ok := err.(*kindMissing) //nolint:errorlint // what wraps one says more
		repeats := ok && told[missing.gvk]
		if ok {
			told[missing.gvk] = true
		}
		return repeats
	})
}
