package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
)

// A plan that is right costs no allocation to check, however many children it has.
func TestCheckPlanAllocatesNothing(t *testing.T) {
	d := NewOperator[*appsv1.Deployment](nil, "test").Owns(&appsv1.Deployment{}).declared()
	owner := deployment("owner")
	var plan Plan[*appsv1.Deployment]
	for range 100 {
		plan.Children = append(plan.Children, Want(deployment("child")))
	}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if err := plan.check(d, nil, owner); err != nil {
			t.Fatal(err)
		}
	}))
}
