package harness

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/webhook"
	"github.com/armature-dev/armature/test/testcluster"
)

// Place is a test's namespace on the cluster.
type Place struct {
	T         *testing.T
	Client    client.WithWatch // with all rights, past every cache
	Namespace string
	// Kind is the kind that the suite is about: that of the objects whose events are looked for.
	Kind string
	// Patience is how long the test waits for something before it fails.
	Patience time.Duration
}

// New makes a place for a kind of config/crd, with the webhook if the environment asks for it.
func New(t *testing.T, kind string, patience time.Duration) *Place {
	t.Helper()
	p := Connect(t, kind, patience, "config/crd", v1alpha1.AddToScheme)
	webhook.Serve(t)
	return p
}

// Connect makes a place for a kind whose CRD is in a directory below the root of the repository, and whose Go type the function
// adds to a scheme.
func Connect(t *testing.T, kind string, patience time.Duration, crds string, addToScheme func(*runtime.Scheme) error) *Place {
	t.Helper()
	testcluster.InstallCRDs(t, crds)
	return &Place{T: t, Client: testcluster.Client(t, addToScheme), Namespace: testcluster.Namespace(t), Kind: kind, Patience: patience}
}

// Get reads the object of a name in the namespace, which must be there.
func (p *Place) Get(name string, obj client.Object) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Get(context.Background(), client.ObjectKey{Namespace: p.Namespace, Name: name}, obj))
}

// Kubectl runs kubectl in the namespace, and returns all that it printed.
func (p *Place) Kubectl(args ...string) (string, error) {
	p.T.Helper()
	return testcluster.Kubectl(p.T, append([]string{"-n", p.Namespace}, args...)...)
}

// MustKubectl runs kubectl, which must succeed, in the namespace, and returns what it printed but for the space around it.
func (p *Place) MustKubectl(args ...string) string {
	p.T.Helper()
	out, err := p.Kubectl(args...)
	require.NoError(p.T, err, out)
	return strings.TrimSpace(out)
}

// Apply runs kubectl apply on a file.
func (p *Place) Apply(file string) {
	p.T.Helper()
	p.MustKubectl("apply", "-f", file)
}

// Logs returns what a pod printed, or that of "job/NAME".
func (p *Place) Logs(of string) string {
	p.T.Helper()
	return p.MustKubectl("logs", of)
}
