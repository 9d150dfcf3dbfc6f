package managercmd

import (
	"errors"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/go-logr/logr"
)

// limitMemory makes the runtime stay below nine tenths of the container's memory limit. Without that it collects garbage only when
// the heap has doubled, and a manager that needs half of its limit for a moment is ended by the kernel. Where there is no
// limit nothing changes, and GOMEMLIMIT in the environment comes first.
func limitMemory(limit memlimit.Provider, logger logr.Logger) {
	bytes, err := memlimit.SetGoMemLimitWithOpts(memlimit.WithProvider(limit))
	switch {
	case errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		logger.Info("the container's memory limit isn't known, so that memory is collected as if there were none", "reason", err.Error())
	case bytes > 0:
		logger.V(1).Info("memory is limited", "bytes", bytes)
	}
}
