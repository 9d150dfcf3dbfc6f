package managercmd

import (
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/cmd/armature/internal/recordcmd"
)

// recorded returns the manager with a recorder for its operators, if the flags ask for one.
func recorded(mgr ctrl.Manager, o options) (ctrl.Manager, error) {
	if o.recordBytes == 0 {
		return mgr, nil
	}
	queues, err := o.queueManager()
	if err != nil {
		return nil, err
	}
	recorder := record.NewRecorder(o.recordBytes)
	if recorder.Settings, err = recordcmd.Settings(queues); err != nil {
		return nil, err
	}
	if err := recorder.Listen(mgr, o.recordAddress); err != nil {
		return nil, err
	}
	return recorder.Around(mgr), nil
}
