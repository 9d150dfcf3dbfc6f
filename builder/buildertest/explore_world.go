package buildertest

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// worldCluster is a World as a Cluster. A step is the changes of one object, or of all if whole is set.
type worldCluster struct {
	server *Server
	world  World
	whole  bool
}

// Next implements Cluster.
func (w worldCluster) Next() ([]ClusterStep, time.Time, error) {
	before := w.server.snapshot()
	changed, err := w.run(context.Background(), nil)
	w.server.restore(before)
	if err != nil {
		return nil, time.Time{}, err
	}
	var steps []ClusterStep
	known := map[string]bool{}
	for _, c := range changed {
		name, kind := "the cluster: change "+c.object(), c.Kind
		only := func(other Call) bool { return other.object() == c.object() }
		if w.whole {
			name, kind, only = "the cluster: change what it can", schema.GroupKind{}, nil
		}
		if known[name] {
			continue
		}
		known[name] = true
		steps = append(steps, ClusterStep{Name: name, Kind: kind, Local: true, Run: func(ctx context.Context) error {
			_, err := w.run(ctx, only)
			return err
		}})
	}
	return steps, time.Time{}, nil
}

// run runs the world. The writes for which only returns false have no effect; nil: all have. It returns the calls that changed something.
func (w worldCluster) run(ctx context.Context, only func(Call) bool) ([]Call, error) {
	c := w.server.Client("world")
	c.only = only
	var changed []Call
	c.written = func(call Call) {
		if call.Changed {
			changed = append(changed, call)
		}
	}
	if err := w.world(ctx, c); err != nil {
		return nil, fmt.Errorf("the world: %w", err)
	}
	return changed, nil
}
