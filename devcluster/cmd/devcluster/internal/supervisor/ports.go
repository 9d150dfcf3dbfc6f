package supervisor

import (
	"fmt"
	"math/rand/v2"
	"net"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/component"
)

// Ports are picked below the ranges from which Linux and macOS give ports to outgoing connections: else a
// connection could take the port of a component that is being started again.
const (
	firstPort = 20000
	lastPort  = 32000
)

// pickPorts fills in the port of each component that listens, keeping those of earlier runs that are free, so
// that kubeconfigs stay valid.
func pickPorts(ports map[string]int) error {
	taken := map[int]bool{}
	for _, name := range []string{component.Etcd, component.APIServer, component.ControllerManager, component.Scheduler} {
		port := ports[name]
		for tries := 0; port == 0 || taken[port] || !free(port); tries++ {
			if tries == 1000 {
				return fmt.Errorf("%s: no free port on 127.0.0.1 between %d and %d", name, firstPort, lastPort)
			}
			port = firstPort + rand.IntN(lastPort-firstPort)
		}
		ports[name], taken[port] = port, true
	}
	return nil
}

func free(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}
