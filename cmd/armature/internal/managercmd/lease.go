package managercmd

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"

	"github.com/armature-dev/armature/cmd/armature/internal/leader"
)

// lease says for how long a manager leads. The names and the defaults are those of Kubernetes' own components.
type lease struct {
	// duration is for how long those that wait believe in a leader that renews it no more.
	duration time.Duration
	// renewDeadline is for how long the leader works on without having renewed it.
	renewDeadline time.Duration
	retryPeriod   time.Duration
}

func (l *lease) addFlags(f *pflag.FlagSet) {
	f.DurationVar(&l.duration, "leader-elect-lease-duration", 15*time.Second,
		"`time` after the last renewal of the lease until another manager takes it over, in whole seconds")
	f.DurationVar(&l.renewDeadline, "leader-elect-renew-deadline", 10*time.Second,
		"`time` for which the leader tries to renew the lease before it ends; "+
			"shorter than --leader-elect-lease-duration, so that two never work at once")
	f.DurationVar(&l.retryPeriod, "leader-elect-retry-period", 2*time.Second,
		"`time` between two attempts to get the lease, or to renew it; "+
			"several of them must fit into --leader-elect-renew-deadline")
}

// validate refuses what client-go would, in the words of the flags, and what the lease can't hold: it counts whole seconds,
// so that of 4.5 s the others would wait for 4 only, maybe less than the leader does.
func (l lease) validate() error {
	if l.duration < time.Second || l.duration%time.Second != 0 {
		return fmt.Errorf("--leader-elect-lease-duration must be whole seconds, at least 1s, got %v", l.duration)
	}
	if l.retryPeriod <= 0 {
		return fmt.Errorf("--leader-elect-retry-period must be more than 0, got %v", l.retryPeriod)
	}
	if l.renewDeadline >= l.duration {
		return fmt.Errorf("--leader-elect-renew-deadline, %v, must be shorter than --leader-elect-lease-duration, %v",
			l.renewDeadline, l.duration)
	}
	if least := time.Duration(leaderelection.JitterFactor * float64(l.retryPeriod)); l.renewDeadline <= least {
		return fmt.Errorf("--leader-elect-renew-deadline, %v, must be longer than %v, which is %v times --leader-elect-retry-period",
			l.renewDeadline, least, leaderelection.JitterFactor)
	}
	return nil
}

// lock is the lease, as controller-runtime would make it, behind a fence. It says what the manager works on.
func (l lease) lock(cfg *rest.Config, namespace, name string, scope leader.Scope) (*fence, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	identity := host + "_" + string(uuid.NewUUID())
	cfg = rest.AddUserAgent(rest.CopyConfig(cfg), "leader-election")
	// A request that hangs must leave time for another one.
	cfg.Timeout = max(l.renewDeadline/2, time.Second)
	clients, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	leases, err := leader.Client(clients.CoordinationV1(), scope)
	if err != nil {
		return nil, err
	}
	events := record.NewBroadcaster()
	events.StartRecordingToSink(&corev1client.EventSinkImpl{Interface: clients.CoreV1().Events(namespace)})
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, namespace, name, clients.CoreV1(), leases, resourcelock.ResourceLockConfig{
		Identity:      identity,
		EventRecorder: events.NewRecorder(clientgoscheme.Scheme, corev1.EventSource{Component: identity}),
	})
	if err != nil {
		return nil, err
	}
	return newFence(lock, l), nil
}
