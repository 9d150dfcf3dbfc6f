package turns

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/events"
)

func TestLimit(t *testing.T) {
	for text, want := range map[string]int{"1": 1, "20": 20, "10%": 1, "11%": 2, "100%": 10, "1%": 1} {
		limit, err := ParseLimit(text)
		require.NoError(t, err)
		assert.Equal(t, want, limit.Of(10), text)
		assert.Equal(t, text, limit.String())
		assert.False(t, limit.IsUnlimited())
	}
	for _, text := range []string{"0", "unlimited"} {
		limit, err := ParseLimit(text)
		require.NoError(t, err)
		assert.True(t, limit.IsUnlimited())
		assert.Equal(t, "unlimited", limit.String())
	}
	for _, text := range []string{"", "-1", "0%", "101%", "1.5", "%", "all"} {
		_, err := ParseLimit(text)
		require.Error(t, err, text)
	}
}

func TestIsChangedByUser(t *testing.T) {
	at := func(kind string, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, ObservedGeneration: generation}
	}
	for name, tt := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"a new owner":               {nil, true},
		"reported on":               {[]metav1.Condition{at("Ready", 3)}, false},
		"an earlier report":         {[]metav1.Condition{at("Ready", 2)}, true},
		"one condition is current":  {[]metav1.Condition{at("Ready", 2), at("Synced", 3)}, false},
		"changed while paused":      {[]metav1.Condition{at("Ready", 2), at(events.ConditionPaused, 3)}, true},
		"conditions that don't say": {[]metav1.Condition{at("Ready", 0)}, false},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tt.want, isChangedByUser(3, tt.conditions)) })
	}
}
