package scaling

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// tolerance is how far a number may be from the threshold, relative to it, without anything being scaled: that of a
// HorizontalPodAutoscaler.
const tolerance = 0.1

// decideReplicas says how many pods there should be, given how many there are and the number that one of them has on
// average. Of none, the number is taken as that of one.
func decideReplicas(current int32, value float64, r *replicaRule) int32 {
	ratio := value / r.threshold
	wanted := float64(max(current, 1))
	if math.Abs(ratio-1) > tolerance {
		wanted = math.Ceil(wanted * ratio)
	}
	return int32(min(max(wanted, float64(r.min)), float64(r.max)))
}

// clamp returns the number of pods within the rule that is nearest to n.
func (r *replicaRule) clamp(n int32) int32 { return min(max(n, r.min), r.max) }

// mebibyte is what sizes are rounded up to.
const mebibyte = 1 << 20

// decideSize says how much each volume should request that requests so much now, given that it is too little.
func decideSize(current resource.Quantity, r *storageRule) resource.Quantity {
	bytes := float64(current.Value()) + float64(r.step.Value())
	if r.percent > 0 {
		bytes = float64(current.Value()) * (1 + float64(r.percent)/100)
	}
	if bytes = math.Ceil(bytes/mebibyte) * mebibyte; bytes >= float64(r.max.Value()) {
		return r.max
	}
	return *resource.NewQuantity(int64(bytes), resource.BinarySI)
}
