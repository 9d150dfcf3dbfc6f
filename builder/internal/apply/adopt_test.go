package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/internal/failure"
	"github.com/armature-dev/armature/builder/internal/fieldmanager"
	"github.com/armature-dev/armature/internal/wellknown"
)

func TestWhoIsAdopted(t *testing.T) {
	controlled := []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x", Controller: new(true)}}
	mentioned := []metav1.OwnerReference{{APIVersion: "v1", Kind: "X", Name: "x", UID: "x"}}
	adopt := func(labels map[string]string, former ...string) *Options {
		return &Options{AdoptOrphan: true, AdoptLabels: labels, FormerManagers: append(former, fieldmanager.KubectlApply)}
	}
	mine, orphans := adopt(map[string]string{"job": "a"}, "old"), adopt(nil)
	const update = metav1.ManagedFieldsOperationUpdate
	label := `{"f:metadata":{"f:labels":{"f:job":{}}}}`
	self := wellknown.FieldOwner
	for name, c := range map[string]struct {
		refs    []metav1.OwnerReference
		labels  map[string]string
		by      []metav1.ManagedFieldsEntry
		deleted bool
		opts    *Options
		want    Action
		refused bool
	}{
		"by default":          {refused: true},
		"never":               {opts: &Options{FormerManagers: []string{fieldmanager.KubectlApply}}, refused: true},
		"orphan":              {opts: orphans, want: Apply},
		"owned, no one's":     {opts: orphans, refs: mentioned, want: Apply},
		"someone else's":      {opts: orphans, refs: controlled, refused: true},
		"being deleted":       {opts: orphans, deleted: true, want: Wait},
		"labelled":            {opts: mine, labels: map[string]string{"job": "a", "x": "y"}, by: entries(entry(self, update, label)), want: Apply},
		"labelled, formerly":  {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry("old", update, label)), want: Apply},
		"labelled otherwise":  {opts: mine, labels: map[string]string{"job": "b"}, by: entries(entry(self, update, label)), refused: true},
		"not labelled":        {opts: mine, by: entries(entry(self, update, label)), refused: true},
		"labelled, another's": {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry(self, update, label)), refs: controlled, refused: true},
		"labelled by others":  {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry("x", update, label)), refused: true},
		"by kubectl apply":    {opts: mine, labels: map[string]string{"job": "a"}, by: entries(entry(fieldmanager.KubectlApply, update, label)), refused: true},
		"by no one on record": {opts: mine, labels: map[string]string{"job": "a"}, refused: true},
		"labelled by others, touched by the builder": {
			opts: mine, labels: map[string]string{"job": "a"}, refused: true,
			by: entries(entry("x", update, label), entry(self, update, `{"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:job":{}}}`)),
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t)
			d, err := cluster.Desire(&Child{Object: config("c"), Options: c.opts})
			require.NoError(t, err)
			found := config("c")
			found.OwnerReferences, found.Labels, found.ManagedFields = c.refs, c.labels, c.by
			if c.deleted {
				found.DeletionTimestamp = new(metav1.Now())
			}
			w, err := cluster.Compare(d, found)
			if c.refused {
				require.ErrorIs(t, err, failure.ErrNotOwned)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, w.Action)
			assert.Equal(t, c.want == Apply, w.adopts)
		})
	}
}

// An object that is no one's may be that of another program of the same name: its fields are taken only from managers that
// Adopt names.
func TestAdoptionTakesNothingByTheProgramsName(t *testing.T) {
	for _, adopts := range []bool{false, true} {
		c := newCluster(t)
		found := config("c")
		found.ManagedFields = []metav1.ManagedFieldsEntry{entry(fieldmanager.Program(), metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:a":{}}}`)}
		w := &Write{
			Desired:  &Desired{Child: &Child{Object: config("c"), Options: &Options{AdoptOrphan: true, FormerManagers: []string{fieldmanager.KubectlApply}}}},
			Observed: found, adopts: adopts,
		}
		w.noteWritten(c)
		require.True(t, w.takesOver(c))
		_, changed, err := c.fieldsTakenOver(found, w.Desired)
		require.NoError(t, err)
		assert.Equal(t, !adopts, changed)
	}
}
