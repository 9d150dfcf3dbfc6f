package running

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// lister permits to list kinds in namespaces from a time on.
type lister struct {
	client.Reader
	begin time.Time
	bound map[string]time.Duration // by kind and namespace
}

func (l lister) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	kind := strings.TrimSuffix(list.GetObjectKind().GroupVersionKind().Kind, "List")
	if after, ok := l.bound[kind+" "+(&client.ListOptions{}).ApplyOptions(opts).Namespace]; !ok || time.Since(l.begin) < after {
		return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", nil)
	}
	return nil
}

// A namespace without the program's role bindings is left out, unless they come soon, or are missing everywhere. A kind that the program
// may list nowhere isn't its own.
func TestLeftOutNamespaces(t *testing.T) {
	leftOut := func(bound map[string]time.Duration, kinds ...string) (names []string) {
		synctest.Test(t, func(t *testing.T) {
			var all []schema.GroupVersionKind
			for _, kind := range kinds {
				all = append(all, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
			}
			names = LeftOut(t.Context(), lister{begin: time.Now(), bound: bound}, []string{"a", "b"}, all, logr.Discard())
		})
		return names
	}
	type m = map[string]time.Duration
	assert.Empty(t, leftOut(m{"K a": 0, "K b": 0}, "K"))
	assert.Equal(t, []string{"b"}, leftOut(m{"K a": 0}, "K"))
	assert.Equal(t, []string{"b"}, leftOut(m{"K a": 5 * time.Second}, "K"))
	assert.Equal(t, []string{"b"}, leftOut(m{"K a": 0, "L a": 0, "L b": 0}, "K", "L"))
	assert.Empty(t, leftOut(m{"K a": 0, "K b": 5 * time.Second}, "K"), "applied a moment later")
	assert.Empty(t, leftOut(nil, "K"), "it waits for its permissions")
	assert.Empty(t, leftOut(m{"K a": 0, "L b": 0}, "K", "L"), "it waits for its permissions")
	assert.Empty(t, leftOut(m{"K a": 0, "K b": 0}, "K", "Unused"))
	assert.Equal(t, []string{"b"}, leftOut(m{"K a": 0}, "K", "Unused"))
	assert.Empty(t, LeftOut(t.Context(), lister{}, []string{"a"}, []schema.GroupVersionKind{{Kind: "K"}}, logr.Discard()), "a single one")
}
