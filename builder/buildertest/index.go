package buildertest

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// indexes are functions by kind and name.
type indexes map[schema.GroupVersionKind]map[string]client.IndexerFunc

func (i indexes) add(gvk schema.GroupVersionKind, name string, values client.IndexerFunc) error {
	if i[gvk] == nil {
		i[gvk] = map[string]client.IndexerFunc{}
	}
	if i[gvk][name] != nil {
		return fmt.Errorf("indexer conflict: %s of %s is registered twice", name, gvk.Kind)
	}
	i[gvk][name] = values
	return nil
}

// IndexField implements client.FieldIndexer: List with client.MatchingFields then finds objects by the values. Each client has its own
// indexes, like each process; all clients have those of [Server.IndexField].
func (c *Client) IndexField(_ context.Context, obj client.Object, field string, values client.IndexerFunc) error {
	k, err := c.server.kinds.of(obj)
	if err != nil {
		return err
	}
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	return c.indexes.add(k.gvk, field, values)
}

// index returns the index of a name, nil if there is none.
func (c *Client) index(gvk schema.GroupVersionKind, name string) client.IndexerFunc {
	switch {
	case name == "metadata.name":
		return func(o client.Object) []string { return []string{o.GetName()} }
	case name == "metadata.namespace":
		return func(o client.Object) []string { return []string{o.GetNamespace()} }
	case c.indexes[gvk][name] != nil:
		return c.indexes[gvk][name]
	default:
		return c.server.indexes[gvk][name]
	}
}
