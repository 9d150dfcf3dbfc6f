package harness

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// passes returns how many passes an operator has made, in all managers of this process.
func passes(t *testing.T, operator string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	total := 0.0
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if label.GetName() == "controller" && label.GetValue() == operator {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}

// AwaitPass does something, and waits until an operator has made a pass after it.
func (p *Place) AwaitPass(operator string, after func()) {
	p.T.Helper()
	before := passes(p.T, operator)
	after()
	p.Eventually("a pass", func() bool { return passes(p.T, operator) > before })
}

// Touch makes an operator look at an object again, without changing what it says.
func (p *Place) Touch(operator string, obj client.Object) {
	p.T.Helper()
	p.AwaitPass(operator, func() {
		before := obj.DeepCopyObject().(client.Object)
		annotations := map[string]string{}
		maps.Copy(annotations, before.GetAnnotations())
		annotations["touched"] = time.Now().Format(time.RFC3339Nano)
		obj.SetAnnotations(annotations)
		require.NoError(p.T, p.Client.Patch(p.T.Context(), obj, client.MergeFrom(before)))
	})
}
