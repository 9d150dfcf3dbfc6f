package builder_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// metric reads a metric from the registry that a manager serves. A histogram's value is its count.
func metric(t *testing.T, name string, labels map[string]string) float64 {
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			matching := 0
			for _, l := range m.GetLabel() {
				if labels[l.GetName()] == l.GetValue() {
					matching++
				}
			}
			if matching == len(labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

func TestMetricsOfAPass(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	w.engine = builder.NewEngine(w.cached, builder.Options{Name: w.ns})
	of := func(name string) float64 {
		return metric(t, "armature_builder_"+name, map[string]string{"controller": w.ns, "kind": "ConfigMap"})
	}
	_, _, err := w.pass(configMap("a", "k", "1"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, of("apply_duration_seconds"))
	_, _, err = w.pass(configMap("a", "k", "2"))
	require.NoError(t, err)
	assert.Zero(t, of("drift_corrected_total"), "what is wanted otherwise isn't drift")
	assert.EqualValues(t, 3, of("operations_total"), "create, claim, apply")

	w.edit(configMap("a"), func(o client.Object) { o.(*corev1.ConfigMap).Data["k"] = "3" })
	_, _, err = w.pass(configMap("a", "k", "2"))
	require.NoError(t, err)
	assert.EqualValues(t, 1, of("drift_corrected_total"))
	before := of("operations_total")
	_, _, err = w.pass(configMap("a", "k", "2"))
	require.NoError(t, err)
	assert.Equal(t, before, of("operations_total"))
}

// The metric counts a child from the pass that finds it contested until the other writer has stopped.
func TestContestedChildrenAreCounted(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	clock := buildertest.NewClock()
	w.engine = buildertest.NewEngine(w.cached, builder.Options{Name: w.ns}, buildertest.EngineOptions{Clock: clock.Now})
	contested := func() float64 {
		return metric(t, "armature_builder_objects_contested", map[string]string{"controller": w.ns})
	}
	desired := configMap("a", "k", "1")
	flip := func() { w.edit(configMap("a"), func(o client.Object) { o.(*corev1.ConfigMap).Data["k"] = "2" }) }
	w.mustWant(true, "create", desired)
	for range 3 {
		assert.Zero(t, contested())
		flip()
		w.mustWant(true, "put back at once", desired)
	}
	flip()
	w.mustWant(false, "held", desired)
	assert.EqualValues(t, 1, contested())
	clock.Step(time.Second)
	w.mustWant(true, "put back", desired)
	assert.EqualValues(t, 1, contested())
	clock.Step(time.Hour)
	w.mustWant(false, "calm", desired)
	assert.Zero(t, contested())
}

func TestWaitingIsCountedUntilTheOwnerIsGone(t *testing.T) {
	o := operate(t, plan, &Widget{Spec: WidgetSpec{Children: []string{"a"}}})
	waiting := func() float64 {
		return metric(t, "armature_builder_objects_waiting", map[string]string{"controller": "widget-tester"})
	}
	o.eventually(func() bool { return slices.Equal(o.get(o.widget).(*Widget).Status.Seen, []string{"a"}) }, "the child")
	o.edit(configMap("a"), func(c client.Object) { c.SetFinalizers([]string{"example.com/hold"}) })
	require.NoError(t, o.live.Delete(o.ctx, o.get(configMap("a"))))
	o.eventually(func() bool { return waiting() == 1 }, "the child to be waited for")
	require.NoError(t, o.live.Delete(o.ctx, o.widget))
	o.eventually(func() bool { return waiting() == 0 }, "no one to wait")
	child := o.get(configMap("a"))
	child.SetFinalizers(nil)
	require.NoError(t, o.live.Update(o.ctx, child))
}
