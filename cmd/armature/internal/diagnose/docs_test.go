package diagnose

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/events"
)

// docs/cli.md lists the reasons that explain prints. Those of conditions come from this map, not from calls that a search finds.
func TestTheManualHasTheReasonsThatRequireAction(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/cli.md")
	require.NoError(t, err)
	for reason := range actionAdvice {
		assert.Contains(t, string(page), "`"+reason+"`")
	}
	assert.Contains(t, string(page), "`"+events.ReasonQuarantined+"`")
}
