package dsoi

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/testsize"
)

// liveReads counts reads that go past the cache.
type liveReads struct {
	*buildertest.Client
	n int
}

func (c *liveReads) Live() client.Reader { return liveReader{c.Client.Live(), c} }

type liveReader struct {
	client.Reader
	of *liveReads
}

func (r liveReader) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	r.of.n++
	return r.Reader.Get(ctx, key, obj, opts...)
}

func (r liveReader) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	r.of.n++
	return r.Reader.List(ctx, list, opts...)
}

// TestManyNodes is a cluster of many nodes in 10 types: unchanged it costs no request, and an upgrade of one type writes
// to nothing but that type's nodes.
func TestManyNodes(t *testing.T) {
	s := perform(t, "{}")
	o := s.town()
	o.Spec = withoutDelay(manyNodes(testsize.Pick(50, 200))).Spec
	require.NoError(t, s.others.Update(t.Context(), o))
	s.settle()
	require.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)

	for _, who := range []string{"the operator", "the operator after a restart"} {
		live := &liveReads{Client: s.ours}
		if who != "the operator" {
			var err error
			s.reconciler, err = buildertest.NewReconciler(theApp().Operator(nil), live, s.ours.Now)
			require.NoError(t, err)
		}
		s.ours.Ledger().Reset()
		_, err := s.reconciler.Reconcile(t.Context(), townRequest)
		require.NoError(t, err)
		assert.Empty(t, s.ours.Ledger().Writes(), who)
		assert.Zero(t, live.n, who)
	}

	o = s.town()
	o.Spec.K8sConfigGroup[3].Image = "town:v2"
	require.NoError(t, s.others.Update(t.Context(), o))
	want := map[string]bool{}
	for _, n := range o.Spec.Nodes {
		if n.NodeType == "type-3" {
			want["t-"+n.Name] = true
		}
	}
	require.Len(t, want, len(o.Spec.Nodes)/10)
	written := map[string]bool{}
	for range 20 {
		s.rollOut()
		writes := s.pass()
		if len(writes) == 0 {
			break
		}
		for _, w := range writes {
			if !strings.Contains(w, "ControllerRevision") {
				written[w[strings.LastIndex(w, "/")+1:]] = true
			}
		}
	}
	assert.Equal(t, want, written)
	assert.Equal(t, v1beta1.ClusterRunning, s.town().Status.Phase)
}
