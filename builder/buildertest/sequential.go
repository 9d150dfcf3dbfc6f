package buildertest

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/testhook"
)

func init() {
	testhook.Sequential = func(c client.Client) bool {
		mine, ok := c.(*Client)
		return ok && mine.one
	}
}
