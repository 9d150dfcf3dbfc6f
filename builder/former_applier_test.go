package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// A former manager that still runs, and applies the same values, takes its fields back whenever the builder has taken them
// over. Nothing else of the child changes.
func TestFormerManagerThatStillApplies(t *testing.T) {
	r := newRivalry(t)
	const body = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"default"},"spec":{"replicas":1}}`
	begun, writes := r.ours.Now(), 0
	var res builder.Result
	for r.ours.Now().Sub(begun) < 10*time.Minute {
		require.NoError(t, r.others.Patch(t.Context(), newWorkload("web"), client.RawPatch(types.ApplyPatchType, []byte(body)),
			client.FieldOwner("former"), client.ForceOwnership))
		before := r.child().ResourceVersion
		var err error
		res, err = r.engine.For(r.owner).Object(r.desired, builder.Adopt(builder.AdoptOptions{OwnedOnly: true, FormerManagers: []string{"former"}})).Reconcile(t.Context())
		require.NoError(t, err)
		if r.child().ResourceVersion != before {
			writes++
			require.LessOrEqual(t, writes, 20, "at once, then ever more rarely")
			assert.NotEmpty(t, res.Changes, "a write is a change")
			continue
		}
		require.NotZero(t, res.RequeueAfter)
		r.server.Clock().Step(res.RequeueAfter)
	}
	require.Len(t, builder.Contested(res), 1)
}
