package localnode

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/kubernetes/pkg/kubelet/token"
	"k8s.io/utils/clock"

	vklog "github.com/virtual-kubelet/virtual-kubelet/log"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/hosts"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/podenv"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
)

// Run serves the nodes until ctx ends; on return every container process is gone.
// It waits for an API server that is not there yet.
func Run(ctx context.Context, cfg Config) error {
	server, err := cfg.validate()
	if err != nil {
		return err
	}
	authority, err := loadAuthority(cfg.CAFile, cfg.CAKeyFile)
	if err != nil {
		return err
	}
	dir, removeAlias, err := plainDir(cfg.Dir)
	if err != nil {
		return err
	}
	defer removeAlias()

	ctx, cancel := context.WithCancel(vklog.WithLogger(ctx, logger{}))
	defer cancel()
	client, err := newClient(cfg.Client)
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: client.CoreV1().Events("")})
	defer broadcaster.Shutdown()

	shared := &shared{
		client: client, authority: authority, objects: podenv.Live{Client: client}, tokens: token.NewManager(client),
		factory: informers.NewSharedInformerFactory(client, 0), hosts: hosts.New(dir + "/.hosts"),
	}
	nodes := make([]*localNode, 0, len(cfg.Names))
	starts := make(chan struct{}, max(4, 2*runtime.NumCPU()))
	for i, name := range cfg.Names {
		size := hostSize(dir)
		n, err := newLocalNode(ctx, shared, &pods.Host{
			NodeName: name, IP: nodeIP, Dir: dir + "/" + name + "/pods", APIServer: server, CAFile: cfg.CAFile,
			Allocatable: size, Client: client, Objects: shared.objects, Tokens: shared.tokens, Clock: clock.RealClock{}, Hosts: shared.hosts.Path,
			Events: broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "kubelet", Host: name}), Starts: starts,
		}, newAddresses(cfg.Dir, i), cfg.Labels)
		if err != nil {
			return fmt.Errorf("node %s: %w", name, err)
		}
		defer n.close()
		nodes = append(nodes, n)
	}
	if err := watchObjects(shared.factory, nodes); err != nil {
		return err
	}
	shared.factory.StartWithContext(ctx)
	defer shared.factory.Shutdown()
	defer cancel()

	var running sync.WaitGroup
	errs := make(chan error, len(nodes))
	for _, n := range nodes {
		running.Go(func() {
			if err := n.run(ctx); err != nil {
				errs <- fmt.Errorf("node %s: %w", n.host.NodeName, err)
				cancel()
			}
		})
	}
	if len(nodes) == 0 {
		<-ctx.Done()
	}
	running.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// shared is what all nodes use together.
type shared struct {
	client    kubernetes.Interface
	authority *authority
	objects   podenv.Objects
	tokens    *token.Manager
	hosts     *hosts.Files
	factory   informers.SharedInformerFactory
}

// newClient makes a client without a limit of its own: one process does the work
// of many kubelets, and the API server is on the same machine.
func newClient(config *rest.Config) (kubernetes.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.UserAgent = "devcluster-local-nodes"
	return kubernetes.NewForConfig(config)
}

// plainDir is a path of the directory without characters that mean something to a
// shell: container paths are rewritten to paths below it, also in shell commands.
// A directory that has such characters gets a symbolic link among the temporary
// files.
func plainDir(dir string) (plain string, remove func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	for _, r := range dir {
		if !isPlain(r) {
			parent, err := os.MkdirTemp("", "devcluster-")
			if err != nil {
				return "", nil, err
			}
			link := parent + "/nodes"
			return link, func() { os.RemoveAll(parent) }, os.Symlink(dir, link)
		}
	}
	return dir, func() {}, nil
}

func isPlain(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '/' || r == '.' || r == '_' || r == '-' || r == '+'
}
