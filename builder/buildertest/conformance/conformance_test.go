package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/conformance"
)

func TestFakeDoesAsTheRealOne(t *testing.T) {
	for _, c := range conformance.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want, err := c.Recorded()
			require.NoError(t, err)
			assert.Equal(t, want, c.Run(t, fake()))
		})
	}
}

var (
	scheme = conformance.Scheme()
	crds   = buildertest.WithCRDs("../../../" + conformance.CRDs)
)

func fake() conformance.Target {
	s := buildertest.NewServer(scheme, crds)
	return conformance.Target{
		Client:     s.Client(conformance.Manager),
		Namespaces: [2]string{"conformance-one", "conformance-two"},
		Await:      func(done func() bool) bool { s.CollectGarbage(); return done() },
	}
}
