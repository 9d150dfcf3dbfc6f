package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/internal/wellknown"
)

// Of a child with CreateOnly only the builder's label and the owner are put back. Another writer of them is a rival as of
// any field.
func TestContestOfAChildThatIsCreatedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*batchv1.Job)
		field  string
		by     string
	}{
		"another label": {func(j *batchv1.Job) { j.Labels[wellknown.LabelManagedBy] = "rival" },
			"metadata.labels[app.kubernetes.io/managed-by]", "rival (Update)"},
		"no label": {func(j *batchv1.Job) { delete(j.Labels, wellknown.LabelManagedBy) },
			"metadata.labels[app.kubernetes.io/managed-by]", unknownWriter},
		"no owner": {func(j *batchv1.Job) { j.OwnerReferences = nil }, "metadata.ownerReferences", unknownWriter},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRivalry(t)
			pass := func() builder.Result {
				return r.reconciles(r.engine.For(r.owner).Object(newJob("once"), builder.CreateOnly(), builder.Adopt(builder.AdoptOptions{})))
			}
			require.Len(t, pass().Changes, 1)
			begun, writes := r.ours.Now(), 0
			var res builder.Result
			for r.ours.Now().Sub(begun) < 10*time.Minute && writes < 100 {
				found := newJob("once")
				require.NoError(t, r.others.Get(t.Context(), client.ObjectKeyFromObject(found), found))
				c.change(found)
				require.NoError(t, r.others.Update(t.Context(), found))
				if res = pass(); len(res.Changes) > 0 {
					writes++
					continue
				}
				require.NotZero(t, res.RequeueAfter)
				r.server.Clock().Step(res.RequeueAfter)
			}
			assert.LessOrEqual(t, writes, 14)
			require.Len(t, builder.Contested(res), 1)
			assert.Contains(t, builder.Contested(res)[0].String(), ": "+c.field+" keeps being changed by "+c.by+"; ")
		})
	}
}
