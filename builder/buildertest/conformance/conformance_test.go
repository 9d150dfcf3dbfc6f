package conformance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/conformance"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
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

func TestWorldDoesAsTheRealOne(t *testing.T) {
	for _, c := range conformance.ControllerCases() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			want, err := c.Recorded()
			require.NoError(t, err)
			for seed := range uint64(testsize.Pick(10, 200)) { // in other orders of steps too
				assert.Equal(t, want, c.Run(t, simulated(t, seed)), "seed %d", seed)
			}
		})
	}
}

// simulated returns a simulated cluster. Its time passes while a case waits.
func simulated(t *testing.T, seed uint64) conformance.Target {
	server := buildertest.NewServer(scheme, crds)
	for _, name := range conformance.Nodes {
		require.NoError(t, server.Add(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
			Status:     corev1.NodeStatus{Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}},
		}))
	}
	w := world.New(server, world.Options{Seed: seed})
	return conformance.Target{
		Client:     server.Client(conformance.Manager),
		Namespaces: [2]string{"conformance-one", "conformance-two"},
		Script: func(pods string, code int) {
			require.NoError(t, w.Script(pods, world.Script{Ends: code >= 0, Run: time.Second, ExitCode: int32(max(code, 0))}))
		},
		Await: func(done func() bool) bool {
			for range 300 {
				require.NoError(t, w.Settle(t.Context()))
				if done() {
					return true
				}
				require.NoError(t, w.Wait(t.Context(), time.Second))
			}
			return false
		},
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
		Await:      func(done func() bool) bool { return done() },
	}
}
