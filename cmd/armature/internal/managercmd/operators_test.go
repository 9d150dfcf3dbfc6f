package managercmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSelectOperators(t *testing.T) {
	all, err := selectOperators([]string{"*"})
	require.NoError(t, err)
	assert.Len(t, all, len(bundled))

	one, err := selectOperators([]string{"jobflow"})
	require.NoError(t, err)
	require.Len(t, one, 1)
	assert.Equal(t, "jobflow", one[0].name)

	_, err = selectOperators([]string{"jobflows"})
	require.ErrorContains(t, err, `there is no operator "jobflows"; there are *, `)
	_, err = selectOperators(nil)
	require.ErrorContains(t, err, "name at least one of *, ")
}

func TestBundledOperatorsAreInOrder(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(bundled, func(a, b operator) int { return strings.Compare(a.name, b.name) }))
}
