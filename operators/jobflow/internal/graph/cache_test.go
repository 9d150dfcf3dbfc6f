package graph

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestCacheCompilesOnceAGeneration(t *testing.T) {
	m := newCache()
	flow := seedGraph()
	first := m.of(t.Context(), flow, 0)
	assert.Same(t, first, m.of(t.Context(), flow.DeepCopy(), 0), "another copy of the same spec")
	assert.NotSame(t, first, m.of(t.Context(), flow, 1), "its Jobs have other names in a retry")
	flow.Generation++
	assert.NotSame(t, first, m.of(t.Context(), flow, 0))
}

// A generation is as good as its API server: what differs is never taken for the same.
func TestCacheTellsSpecsApart(t *testing.T) {
	m := newCache()
	seen := map[*Graph]string{}
	for name, change := range map[string]func(*v1alpha1.JobFlow){
		"nothing":      func(f *v1alpha1.JobFlow) {},
		"name":         func(f *v1alpha1.JobFlow) { f.Name = "other" },
		"node":         func(f *v1alpha1.JobFlow) { f.Spec.Flows[0].Name = "other" },
		"dependencies": func(f *v1alpha1.JobFlow) { f.Spec.Flows[4].Dependencies = []string{"job2", "job4"} },
		"fewer":        func(f *v1alpha1.JobFlow) { f.Spec.Flows[4].Dependencies = []string{"job2"} },
		"finally":      func(f *v1alpha1.JobFlow) { f.Spec.Finally, f.Spec.Flows = f.Spec.Flows[4:], f.Spec.Flows[:4] },
		"when":         func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].When = "true" },
		"input":        func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].Inputs = []v1alpha1.Input{{Env: "A", From: "job1"}} },
		"items":        func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].ForEach = &v1alpha1.ForEach{Items: []string{}} },
		"no items":     func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].ForEach = &v1alpha1.ForEach{} },
		"template":     func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].JobTemplate = nil },
		"reference":    func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].JobTemplateRef = "t" },
		"mounts":       func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].ShareVolumeMounts = mounts("x") },
		"volumes":      func(f *v1alpha1.JobFlow) { f.Spec.ShareVolumes = volumes("x") },
		"own volumes":  func(f *v1alpha1.JobFlow) { f.Spec.Flows[1].JobTemplate.Template.Spec.Volumes = volumes("x") },
		"label":        func(f *v1alpha1.JobFlow) { f.Spec.GlobalParams.Labels = map[string]string{"a": "b"} },
		"annotation":   func(f *v1alpha1.JobFlow) { f.Spec.GlobalParams.Annotations = map[string]string{"a": "b"} },
		"where":        func(f *v1alpha1.JobFlow) { f.Spec.GlobalParams.NodeName = "x" },
	} {
		flow := seedGraph()
		change(flow)
		c := m.of(t.Context(), flow, 0)
		assert.Empty(t, seen[c], "%s is taken for %s", name, seen[c])
		seen[c] = name
	}
}

func TestCacheIsBoundedAndSafe(t *testing.T) {
	m := newCache()
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 200 {
				flow := flowOf(20)
				flow.UID = "u"
				flow.Generation = int64(i + worker*50)
				assert.Len(t, m.of(t.Context(), flow, 0).Names, 20)
			}
		})
	}
	all.Wait()
	assert.LessOrEqual(t, m.weight, maxWeight)
	sum := 0
	for _, g := range m.recent.Values() {
		sum += g.weight()
	}
	assert.Equal(t, sum, m.weight)
	m.put(key{uid: "large"}, &Graph{edges: edges{first: make([]int32, maxWeight+2)}})
	assert.Equal(t, 1, m.recent.Len(), "one that is too large is kept as long as it is in use")
}

// When the context ends, Compile returns early, and the incomplete graph isn't kept.
func TestCacheKeepsNoIncompleteGraph(t *testing.T) {
	m := newCache()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	flow := flowWhen(9999, func(i int) string { return fmt.Sprintf(`jobs["first"].succeeded || jobs.first.output == "%d"`, i) })
	assert.Empty(t, m.of(ctx, flow, 0).Whens, "it compiles nothing")
	assert.False(t, m.recent.Contains(keyOf(flow, 0)))
	assert.Len(t, m.of(t.Context(), flow, 0).Whens, 9999)
}
