package managercmd

import (
	"fmt"
	"net"
	"net/http"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/cmd/armature/internal/recordcmd"
)

// recorded returns the manager with a recorder for its operators, if the flags ask for one. It serves the passes on an address of
// localhost: in a pod, only those reach it who may forward its ports, which the API server decides.
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
	listener, err := net.Listen("tcp", o.recordAddress) //nolint:noctx // it is opened at once
	if err != nil {
		return nil, fmt.Errorf("serve the recorded passes: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle(record.Path, recorder)
	server := &manager.Server{
		Name: "recorded passes", Listener: listener,
		Server: &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10},
	}
	return recorder.Around(mgr), mgr.Add(server)
}
