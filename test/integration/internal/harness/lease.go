package harness

import (
	"context"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ExpireLease lets the lease of a process that was killed expire a second after now. So a test gives the process a lease that it can't
// lose while the machine is busy, and doesn't wait for the end of that. The lease is deleted when the test ends: commands list all leases.
func (p *Place) ExpireLease(namespace, name string) {
	p.T.Helper()
	lease := &coordinationv1.Lease{}
	p.RetryOnConflict("a change of the lease "+name, func() error {
		if err := p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: namespace, Name: name}, lease); err != nil {
			return err
		}
		lease.Spec.LeaseDurationSeconds, lease.Spec.RenewTime = ptr.To[int32](1), new(metav1.NowMicro())
		return p.Client.Update(p.T.Context(), lease)
	})
	p.T.Cleanup(func() { require.NoError(p.T, client.IgnoreNotFound(p.Client.Delete(context.Background(), lease))) })
}
