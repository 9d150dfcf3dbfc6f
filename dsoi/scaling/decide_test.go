package scaling

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/api/resource"
	"pgregory.net/rapid"
)

func TestDecideReplicas(t *testing.T) {
	tests := map[string]struct {
		current int32
		value   float64
		want    int32
	}{
		"at the threshold":      {3, 50, 3},
		"a little above":        {3, 54, 3},
		"a little below":        {3, 46, 3},
		"above":                 {3, 60, 4},
		"twice":                 {3, 100, 6},
		"far above":             {3, 1e9, 10},
		"half":                  {4, 25, 2},
		"nothing to do":         {4, 0, 1},
		"none yet":              {0, 120, 3},
		"none, and none needed": {0, 0, 1},
		"less than the least":   {0, 50, 1},
		"more than the most":    {20, 50, 10},
		"the largest number":    {1, math.MaxFloat64, 10},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, decideReplicas(tt.current, tt.value, &replicaRule{min: 1, max: 10, threshold: 50}))
		})
	}
	none := &replicaRule{min: 0, max: 10, threshold: 50}
	assert.EqualValues(t, 0, decideReplicas(3, 0, none), "to nothing, if that is allowed")
	assert.EqualValues(t, 0, decideReplicas(0, 0, none))
	for _, value := range []float64{1, 46, 50, 54} {
		assert.EqualValues(t, 1, decideReplicas(0, value, none), "and back, also by a number near the threshold")
	}
}

func TestDecisionsAreBoundedAndGoTheRightWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &replicaRule{min: rapid.Int32Range(0, 10).Draw(t, "min"), threshold: rapid.Float64Range(1e-3, 1e6).Draw(t, "threshold")}
		r.max = r.min + rapid.Int32Range(0, 100).Draw(t, "more")
		current := rapid.Int32Range(r.min, r.max).Draw(t, "current")
		value := rapid.Float64Range(0, 1e9).Draw(t, "value")
		n := decideReplicas(current, value, r)
		assert.GreaterOrEqual(t, n, r.min)
		assert.LessOrEqual(t, n, r.max)
		if value > r.threshold {
			assert.GreaterOrEqual(t, n, current)
		} else if current > 0 {
			assert.LessOrEqual(t, n, current)
		}
		// What a load of value*current would be for n pods is near the threshold, or at a bound: decided again, it stays.
		if n > r.min && n < r.max && n > 0 && current > 0 {
			again := decideReplicas(n, value*float64(current)/float64(n), r)
			assert.InDelta(t, n, again, 1)
		}
	})
}

func TestDecideSize(t *testing.T) {
	quantity := resource.MustParse
	tests := map[string]struct {
		current string
		rule    storageRule
		want    string
	}{
		"a percentage":    {"10Gi", storageRule{percent: 20, max: quantity("100Gi")}, "12Gi"},
		"rounded up":      {"1Mi", storageRule{percent: 20, max: quantity("100Gi")}, "2Mi"},
		"a step":          {"10Gi", storageRule{step: quantity("5Gi"), max: quantity("100Gi")}, "15Gi"},
		"not beyond":      {"10Gi", storageRule{percent: 100, max: quantity("15Gi")}, "15Gi"},
		"a decimal claim": {"1G", storageRule{step: quantity("1Mi"), max: quantity("100Gi")}, "955Mi"},
		"overflow":        {"8Ei", storageRule{percent: 1000, max: quantity("9Ei")}, "9Ei"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := decideSize(quantity(tt.current), &tt.rule)
			assert.Zero(t, got.Cmp(quantity(tt.want)), got.String())
		})
	}
}
