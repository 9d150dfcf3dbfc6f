package record

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// hashes returns the hashes of names.
func hashes(names ...string) []uint32 {
	var all []uint32
	for _, name := range names {
		all = append(all, HashName(name))
	}
	return all
}

// TestRecordSurvivesEdits: whatever is added, taken out and reordered, a node that has run is recognized, and no other is
// taken for it.
func TestRecordSurvivesEdits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []string
		for i := range rapid.IntRange(1, 60).Draw(t, "nodes") {
			all = append(all, fmt.Sprint("n", i))
		}
		drawNames := func(what string) []string {
			return rapid.Permutation(rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID[string]).Draw(t, what)).Draw(t, "order")
		}
		before := drawNames("before")
		if len(before) == 0 {
			return
		}
		c := hashes(before...)
		l := Record{States: make([]State, len(before)), Digests: make([]NodeDigest, len(before))}
		want := map[string]State{}
		for i, name := range before {
			l.States[i] = State(rapid.IntRange(int(Pending), int(Skipped)).Draw(t, "state"))
			if l.States[i].HasRun() {
				l.Digests[i] = NodeDigest{c[i], uint32(i + 1)}
				want[name] = l.States[i]
			}
		}
		if rapid.Bool().Draw(t, "short digests") {
			l.width = shortWidth
		}
		var status v1alpha1.JobFlowStatus
		l.Write(&status)
		same := Read(&status, c, true)
		for i, s := range l.States {
			if s == Running {
				s = Pending // that is not on record
			}
			assert.Equal(t, s, same.States[i])
		}

		for range 3 { // some edits, one after another
			after := drawNames("after")
			c = hashes(after...)
			l := Read(&status, c, false)
			removed := len(want)
			for i, name := range after {
				assert.Equal(t, want[name], l.States[i], "%s: pending is one that hasn't run", name)
				if want[name] != Pending {
					removed--
				}
			}
			assert.Len(t, l.States, len(after)+removed, "what has run and was taken out comes last")
			l.Write(&status)
		}
	})
}

// TestNodesWithTheSameDigestKeepTheirEnds: of 5,000 nodes some have the same short digest. An edit that moves none gives none the end of
// another.
func TestNodesWithTheSameDigestKeepTheirEnds(t *testing.T) {
	var names []string
	for i := range 5000 {
		names = append(names, fmt.Sprint("job-", i))
	}
	c := hashes(names...)
	l := Record{States: make([]State, len(names)), Digests: make([]NodeDigest, len(names)), width: shortWidth}
	require.True(t, l.SameName(c[456], c[1172]), "the test needs two nodes with the same digest")
	l.States[1172], l.Digests[1172] = Succeeded, NodeDigest{c[1172], 1}
	var status v1alpha1.JobFlowStatus
	l.Write(&status)
	after := Read(&status, c, false)
	assert.Equal(t, Pending, after.States[456])
	assert.Equal(t, Succeeded, after.States[1172])
}

func TestRecordIsNotMisledByAStatus(t *testing.T) {
	c := hashes("a", "b", "c")
	for _, status := range []v1alpha1.JobFlowStatus{
		{Finished: "0-99999999999999", NodeDigests: "AAAA"},
		{Finished: "x", Failed: "-", Skipped: "1-0"},
		{Finished: "0-1", NodeDigests: "not base64!"},
		{Finished: "0-1", Failed: "5"},
	} {
		assert.NotPanics(t, func() {
			l := Read(&status, c, false)
			assert.GreaterOrEqual(t, len(l.States), 3)
			l.Write(&v1alpha1.JobFlowStatus{})
		})
	}
	l := Read(&v1alpha1.JobFlowStatus{Finished: "0-1", Failed: "1"}, c, true)
	assert.Equal(t, []State{Succeeded, Failed, Pending}, l.States, "without digests by the index")
}

func jobSpec(image string) *batchv1.JobSpec {
	return &batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: image}}}}}
}

func TestDigestsTellWhatChanged(t *testing.T) {
	a := v1alpha1.Flow{Name: "a", Dependencies: []string{"x"}, JobTemplate: jobSpec("busybox")}
	b := *a.DeepCopy()
	assert.Equal(t, Digest(&a), Digest(&b))
	b.Dependencies = nil
	b.When = "true"
	b.JobTemplate = jobSpec("other")
	assert.ElementsMatch(t, []string{"dependencies", "when", "jobTemplate"}, ChangedFields(Digest(&a), Digest(&b)))
	assert.Empty(t, ChangedFields(Digest(&a), Digest(&a)))
	assert.Empty(t, ChangedFields("", ""))
	// Fixed: a release that hashed otherwise would take what it finds for changed.
	assert.Equal(t, "dependencies=ce4a9f33", Digest(&v1alpha1.Flow{Dependencies: []string{"x"}}))
}
