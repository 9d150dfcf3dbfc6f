package leader

import (
	"context"
	"encoding/json"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// Client returns a client that writes the label and a manager's scope onto the leases that it creates and updates: client-go's
// lock can't.
func Client(c coordinationv1client.CoordinationV1Interface, s Scope) (coordinationv1client.CoordinationV1Interface, error) {
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return scopedClient{c, string(text)}, nil
}

type scopedClient struct {
	coordinationv1client.CoordinationV1Interface
	scope string
}

func (c scopedClient) Leases(namespace string) coordinationv1client.LeaseInterface {
	return scopedLeases{c.CoordinationV1Interface.Leases(namespace), c.scope}
}

type scopedLeases struct {
	coordinationv1client.LeaseInterface
	scope string
}

func (l scopedLeases) Create(ctx context.Context, lease *coordinationv1.Lease, opts metav1.CreateOptions) (*coordinationv1.Lease, error) {
	return l.LeaseInterface.Create(ctx, l.marked(lease), opts)
}

func (l scopedLeases) Update(ctx context.Context, lease *coordinationv1.Lease, opts metav1.UpdateOptions) (*coordinationv1.Lease, error) {
	return l.LeaseInterface.Update(ctx, l.marked(lease), opts)
}

func (l scopedLeases) marked(lease *coordinationv1.Lease) *coordinationv1.Lease {
	lease = lease.DeepCopy()
	metav1.SetMetaDataLabel(&lease.ObjectMeta, LabelName, Name)
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, AnnotationScope, l.scope)
	return lease
}
