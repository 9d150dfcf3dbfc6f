package running

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cluster permits to list kinds in namespaces from a time on. The kind Cluster has no namespaces, and the kind Unknown no CRD.
type cluster struct {
	client.Client
	begin    time.Time
	bound    map[string]time.Duration // by kind and namespace
	slow     time.Duration            // the time of a request
	requests *atomic.Int32
}

func (c cluster) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	c.requests.Add(1)
	select {
	case <-time.After(c.slow):
	case <-ctx.Done():
		return ctx.Err()
	}
	kind := strings.TrimSuffix(list.GetObjectKind().GroupVersionKind().Kind, "List")
	if after, ok := c.bound[kind+" "+(&client.ListOptions{}).ApplyOptions(opts).Namespace]; !ok || time.Since(c.begin) < after {
		return apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", nil)
	}
	return nil
}

func (c cluster) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	if kind == "Unknown" {
		return false, &meta.NoKindMatchError{}
	}
	return kind != "Cluster", nil
}

type times = map[string]time.Duration

func kindsOf(names string) (all []schema.GroupVersionKind) {
	for name := range strings.FieldsSeq(names) {
		all = append(all, schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: name})
	}
	return all
}

// A namespace without the program's role bindings is left out, unless they come soon, or are missing everywhere. A kind that the program
// may list nowhere, or that isn't in namespaces, isn't its own.
func TestLeftOutNamespaces(t *testing.T) {
	leftOut := func(bound times, kinds string) (names []string) {
		synctest.Test(t, func(t *testing.T) {
			c := cluster{begin: time.Now(), bound: bound, requests: &atomic.Int32{}}
			names = leaveOut(t.Context(), c, []string{"a", "b"}, kindsOf(kinds), logr.Discard()).Names
		})
		return names
	}
	assert.Empty(t, leftOut(times{"K a": 0, "K b": 0}, "K"))
	assert.Equal(t, []string{"b"}, leftOut(times{"K a": 0}, "K"))
	assert.Equal(t, []string{"b"}, leftOut(times{"K a": 5 * time.Second}, "K"))
	assert.Empty(t, leftOut(times{"K a": 0, "K b": 5 * time.Second}, "K"), "applied a moment later")
	assert.Empty(t, leftOut(nil, "K"), "it waits for its permissions")
	assert.Empty(t, leftOut(times{"K a": 0, "L b": 0}, "K L"), "it waits for its permissions")
	assert.Empty(t, leftOut(times{"K a": 0, "L a": 0, "L b": 0}, "K L"), "it waits for the rule of K, and works on L meanwhile")
	assert.Equal(t, []string{"b"}, leftOut(times{"K a": 0, "L a": 0}, "K L"))
	assert.Empty(t, leftOut(times{"K a": 0, "K b": 0}, "K Unused"))
	assert.Equal(t, []string{"b"}, leftOut(times{"K a": 0}, "K Unused"))
	assert.Equal(t, []string{"b"}, leftOut(times{"K a": 0, "Cluster ": 0, "Cluster b": 0}, "Cluster K"))
	assert.Equal(t, []string{"b"}, leftOut(times{"K a": 0, "Unknown b": 0}, "Unknown K"))
	single, err := LeaveOut(t.Context(), nil, []string{"a"}, kindsOf("K"), logr.Discard())
	require.NoError(t, err)
	assert.Empty(t, single.Names)
}

// However many namespaces there are and however slow the API server is, the program starts soon. It asks again only where it was refused.
func TestLeavingOutIsBounded(t *testing.T) {
	const many = 100
	var names []string
	bound := times{}
	for i := range many {
		names = append(names, fmt.Sprint("n", i))
		bound["K n"+fmt.Sprint(i)] = 0
	}
	delete(bound, "K n7")
	for slow, requests := range map[time.Duration]int32{0: many + 5 + 6*5, 4 * time.Second: 40} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			c := cluster{begin: begin, bound: bound, slow: slow, requests: &atomic.Int32{}}
			leaveOut(t.Context(), c, names, kindsOf("K L M N O"), logr.Discard())
			assert.Equal(t, leftOutTimeout, time.Since(begin))
			assert.LessOrEqual(t, c.requests.Load(), requests)
		})
	}
}

// Once a namespace has the role bindings that the others have, the program ends. It doesn't for some of them: it would wait for the rest.
func TestTheProgramEndsWhenANamespaceReturns(t *testing.T) {
	for kinds, bound := range map[string]times{
		"K Unused": {"K a": 0, "K b": time.Hour},
		"K L":      {"K a": 0, "K b": time.Minute, "L a": 0, "L b": time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			c := cluster{begin: begin, bound: bound, requests: &atomic.Int32{}}
			l := leaveOut(t.Context(), c, []string{"a", "b"}, kindsOf(kinds), logr.Discard())
			require.EqualError(t, l.Start(t.Context()), "the namespace b, which was left out, can be listed now: restart with it")
			assert.GreaterOrEqual(t, time.Since(begin), time.Hour)
			assert.Less(t, c.requests.Load(), int32(300))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c := cluster{begin: time.Now(), bound: times{"K a": 0}, requests: &atomic.Int32{}}
		require.NoError(t, leaveOut(ctx, c, []string{"a", "b"}, kindsOf("K"), logr.Discard()).Start(ctx), "until it is stopped")
	})
	require.NoError(t, (&LeftOut{}).Start(t.Context()))
}
