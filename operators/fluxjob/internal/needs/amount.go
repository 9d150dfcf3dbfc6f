package needs

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// most bounds what a job needs and what a quota allows: 36 PB. Package queue adds such amounts without an overflow.
const most = 1 << 55

// Scaled returns a quantity as a whole number: of thousandths for cpu, of units or bytes for all others, rounded up.
func Scaled(name corev1.ResourceName, q resource.Quantity) int64 {
	if name == corev1.ResourceCPU {
		if q.Value() > most/1000 {
			return most
		}
		return max(0, q.MilliValue())
	}
	return min(max(0, q.Value()), most)
}

// Quantity is the reverse of [Scaled].
func Quantity(name corev1.ResourceName, n int64) resource.Quantity {
	switch name {
	case corev1.ResourceCPU:
		return *resource.NewMilliQuantity(n, resource.DecimalSI)
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return *resource.NewQuantity(n, resource.BinarySI)
	default:
		return *resource.NewQuantity(n, resource.DecimalSI)
	}
}

func plus(a, b int64) int64 { return min(a+b, most) }

func times(a int64, n int32) int64 {
	if n > 0 && a > most/int64(n) {
		return most
	}
	return a * int64(n)
}
