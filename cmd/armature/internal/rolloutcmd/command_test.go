package rolloutcmd

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/cmd/armature/internal/leader"
	"github.com/armature-dev/armature/test/docs"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Only a running operator can find that an object isn't ready in time.
func TestARolloutWithoutAManager(t *testing.T) {
	manager := leader.Manager{Namespace: "ops", Lease: "armature", Renewed: now.Add(-time.Minute), Duration: 15 * time.Second,
		Scope: leader.Scope{Operators: []string{"jobflow"}}}
	record := client.ObjectKey{Namespace: "ops", Name: "armature-rollout-jobflow"}
	rollout := release.Rollout{Operator: "jobflow", State: release.Progressing, Record: record}
	gone := func() string {
		var text bytes.Buffer
		writeGone(&text, []*release.Rollout{&rollout}, []leader.Manager{manager}, now)
		return text.String()
	}
	assert.Equal(t, "jobflow: no manager runs, so the roll-out doesn't continue: the lease ops/armature was released 1m0s ago\n", gone())
	rollout.State = release.Halted
	assert.NotEmpty(t, gone(), "nobody finds that the object is ready")
	rollout.Written = now
	assert.Empty(t, gone(), "a manager without a lease works on it")
	rollout.Written, rollout.State = time.Time{}, release.Complete
	assert.Empty(t, gone())
	rollout.State = release.Progressing
	for _, other := range []client.ObjectKey{{Namespace: "other", Name: record.Name}, {Namespace: "ops", Name: "other-rollout-jobflow"}} {
		rollout.Record = other
		assert.Empty(t, gone(), "it is that of another manager")
	}
}

// A user who looks in another namespace learns it.
func TestNoRollouts(t *testing.T) {
	assert.EqualError(t, nothingTo("abort", 0, "shop"), "nothing to abort: there are no roll-outs in namespace shop")
	assert.EqualError(t, nothingTo("resume", 0, ""), "nothing to resume: there are no roll-outs")
	assert.EqualError(t, nothingTo("abort", 2, ""), "nothing to abort: all roll-outs are complete")
	assert.EqualError(t, unknown("webap", nil, "shop"), `the operator "webap" has no roll-out: there are no roll-outs in namespace shop`)
	assert.EqualError(t, unknown("webap", []string{"jobflow", "webapp"}, ""),
		`the operator "webap" has no roll-out; there are roll-outs of: jobflow, webapp`)
}

// The manual shows what the text looks like.
func TestTextInTheManual(t *testing.T) {
	owner := func(name, why string) release.Owner {
		return release.Owner{Kind: "WebApp", Namespace: "shop", Name: name, Why: why}
	}
	orders := owner("orders", "Deployment.apps shop/orders: 0 of 1 replicas updated")
	orders.Halts, orders.Since = true, new(metav1.NewTime(now.Add(-4*time.Minute)))
	var text bytes.Buffer
	require.NoError(t, write(&text, []*release.Rollout{{
		Operator: "webapp", ID: "3f2a91c0-20261125T100000Z", State: release.Halted, MaxOwners: "1", Owners: 4,
		InTurn: []release.Owner{orders},
		Waiting: []release.Owner{
			owner("basket", "Deployment.apps shop/basket restarts pods"), owner("search", "Deployment.apps shop/search restarts pods"),
		},
	}}, now))
	page, err := os.ReadFile("../../../../docs/upgrade.md")
	require.NoError(t, err)
	seen := 0
	docs.Blocks(string(page), "message", func(name, old string) string {
		if name == "rollout" {
			seen++
			assert.Equal(t, "$ armature rollout status\n"+text.String(), old)
		}
		return old
	})
	assert.Equal(t, 1, seen)
}

func TestWrite(t *testing.T) {
	many := make([]release.Owner, 12)
	for i := range many {
		many[i] = release.Owner{Kind: "Queue", Name: fmt.Sprint(i)}
	}
	var text bytes.Buffer
	require.NoError(t, write(&text, []*release.Rollout{
		{Operator: "a", ID: "x", State: release.Complete},
		{Operator: "b", ID: "y", State: release.Progressing, MaxOwners: "50%", Owners: 20, Waiting: many,
			InTurn: []release.Owner{{Kind: "Queue", Name: "q", Halts: true, Passed: true}}},
	}, now))
	assert.Contains(t, text.String(), "a: Complete, roll-out x\nb: Progressing, roll-out y, 12 of 20 objects wait, at most 50% in their turn\n"+
		"  in turn  Queue q (not waited for)\n  waits    Queue 0\n")
	assert.Contains(t, text.String(), "  waits    Queue 9\n  and 2 more wait\n")
	text.Reset()
	require.NoError(t, write(&text, nil, now))
	assert.Equal(t, "no roll-outs\n", text.String())
}
