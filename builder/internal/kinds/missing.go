package kinds

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

// missingRetry is the minimum time between two requests about a kind that the cluster doesn't know, for all owners.
const missingRetry = time.Minute

// Missing is the error of all children of a kind that the cluster doesn't know: its CustomResourceDefinition isn't
// installed yet, or was deleted.
type Missing struct {
	gvk   schema.GroupVersionKind
	until time.Time // no request is made about the kind
	cause error
}

func (m *Missing) Error() string {
	return fmt.Sprintf("the cluster doesn't know the kind %s in version %s; install its CustomResourceDefinition, "+
		"which is looked for once a minute",
		m.gvk.GroupKind(), m.gvk.Version)
}

// Unwrap returns the error of the API server, or of its discovery.
func (m *Missing) Unwrap() error { return m.cause }

// IsGone reports whether an error means that the cluster doesn't know a kind. It is false for a missing object.
func IsGone(err error) bool {
	return meta.IsNoMatchError(err) ||
		apierrors.IsNotFound(err) && strings.Contains(apistatus.Message(err), "could not find the requested resource")
}

// isMissing returns an error if a kind is recorded as missing, so that the caller makes no request about it.
func (r *Registry) isMissing(gvk schema.GroupVersionKind) error {
	if known, ok := r.missing.Load(gvk); ok && r.now().Before(known.(*Missing).until) {
		return known.(*Missing)
	}
	return nil
}

// NoteMissing converts an error about an object to one about its kind, and records the kind as missing, if the cluster doesn't know
// it.
func (r *Registry) NoteMissing(gvk schema.GroupVersionKind, err error) error {
	if already := (*Missing)(nil); errors.As(err, &already) {
		return already
	}
	if err == nil || !IsGone(err) {
		return err
	}
	missing := &Missing{gvk: gvk, until: r.now().Add(missingRetry), cause: err}
	r.missing.Store(gvk, missing)
	r.namespaced.Delete(gvk) // a new definition may have another scope
	return missing
}

// Probes separates one item of each kind that was missing at the last request. The caller tries these before the others of the kind.
// of returns the kind of an item.
func Probes[T comparable](r *Registry, items []T, of func(T) schema.GroupVersionKind) (probes, others []T) {
	for _, item := range items {
		gvk := of(item)
		if _, was := r.missing.Load(gvk); !was {
			continue
		}
		if !slices.ContainsFunc(probes, func(t T) bool { return of(t) == gvk }) {
			probes = append(probes, item)
		}
	}
	if len(probes) == 0 {
		return nil, items
	}
	return probes, slices.DeleteFunc(slices.Clone(items), func(item T) bool { return slices.Contains(probes, item) })
}

// NotePresent drops the record that a kind was missing.
func (r *Registry) NotePresent(gvk schema.GroupVersionKind) { r.missing.Delete(gvk) }

// MissingUntil returns when to try again after errors that are all about kinds that the cluster doesn't know; zero for others.
func MissingUntil(err error) time.Time {
	var first time.Time
	for _, leaf := range errorlist.Of(err) {
		missing := (*Missing)(nil)
		if !errors.As(leaf, &missing) {
			return time.Time{}
		}
		if first.IsZero() || missing.until.Before(first) {
			first = missing.until
		}
	}
	return first
}

// OnePerKind drops errors that repeat another one about the same kind.
func OnePerKind(all []error) []error {
	told := map[schema.GroupVersionKind]bool{}
	return slices.DeleteFunc(all, func(err error) bool {
		missing, ok := err.(*Missing) //nolint:errorlint // what wraps one says more
		repeats := ok && told[missing.gvk]
		if ok {
			told[missing.gvk] = true
		}
		return repeats
	})
}
