package builder

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/readiness"
)

// IsReady says whether an object, as read from a cluster, is ready by the rules of [Builder.AwaitReady], and if not why,
// in one line. It is for plans that tell of it in their status.
func IsReady(obj client.Object) (ready bool, why string) {
	s := readiness.Of(obj)
	return s.State == readiness.Ready, s.Why
}
