package watchcmd

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestAFailureThatIsAllowedSaysSo(t *testing.T) {
	flow := sample()
	flow.Spec.Flows[1].AllowFailure = true
	flow.Status.Flows[1] = v1alpha1.FlowStatus{Name: "b", State: v1alpha1.FlowFailed, StartTime: at(2), CompletionTime: at(3), Message: "BackoffLimitExceeded"}
	assert.Equal(t, "may fail: BackoffLimitExceeded", flowAt(flow, at(4).Time).rows[1].message)
}
