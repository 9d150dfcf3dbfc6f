package builder

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// writeInOrder writes ConfigMaps and Secrets before all others. The pods of a workload that is changed read their
// configuration when they start: if it came later, or not at all, they would have the old one for good.
func (r *rollout) writeInOrder(ctx context.Context, writes []*write) error {
	configuration, others := configurationFirst(writes)
	for _, some := range [][]*write{configuration, others} {
		err := r.writeAll(ctx, some)
		for _, w := range some {
			r.record(w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func configurationFirst(writes []*write) (configuration, others []*write) {
	for _, w := range writes {
		if slices.Contains(configurations, w.desired.key.GroupKind()) {
			configuration = append(configuration, w)
		} else {
			others = append(others, w)
		}
	}
	return configuration, others
}

var configurations = []schema.GroupKind{
	corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), corev1.SchemeGroupVersion.WithKind("Secret").GroupKind(),
}
