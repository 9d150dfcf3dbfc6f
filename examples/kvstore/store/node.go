package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The types of nodes.
const (
	Coordinator = "coordinator"
	Storage     = "storage"
	Gateway     = "gateway"
)

// Types are all of them.
var Types = []string{Coordinator, Storage, Gateway}

// Port is where all nodes listen, each at its own address.
const Port = 7070

// The variables that tell a node where it is.
const (
	EnvAddress   = "KV_ADDRESS"
	EnvPod       = "KV_POD"
	EnvNamespace = "KV_NAMESPACE"
	EnvCluster   = "KV_CLUSTER"
	EnvConfig    = "KV_CONFIG" // a file of properties
	EnvData      = "KV_DATA"   // a directory
)

// node is what all types have in common.
type node struct {
	address, pod string
	config       map[string]string
	peers        *peers
	mux          *http.ServeMux
	ready        atomic.Bool
}

// role is a type of node.
type role interface {
	// start is called once the node answers; when it returns, the node is ready.
	start(ctx context.Context) error
	// stop is called when the node is to end, which it does when it returns.
	stop(ctx context.Context)
}

// RunNode runs a node of a type until ctx ends.
func RunNode(ctx context.Context, kind string) error {
	config, err := readProperties(os.Getenv(EnvConfig))
	if err != nil {
		return err
	}
	c, err := newClient()
	if err != nil {
		return err
	}
	n := &node{
		address: os.Getenv(EnvAddress), pod: os.Getenv(EnvPod), config: config, mux: http.NewServeMux(),
		peers: &peers{client: c, namespace: os.Getenv(EnvNamespace), cluster: os.Getenv(EnvCluster)},
	}
	r, err := n.as(kind)
	if err != nil {
		return err
	}
	return n.serve(ctx, r)
}

func (n *node) as(kind string) (role, error) {
	n.mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if !n.ready.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
		}
	})
	n.mux.HandleFunc("GET /config/{name}", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, n.config[r.PathValue("name")]) })
	switch kind {
	case Coordinator:
		return newCoordinator(n), nil
	case Storage:
		return newStorage(n, os.Getenv(EnvData))
	case Gateway:
		return newGateway(n), nil
	default:
		return nil, fmt.Errorf("no node is a %q; want %s", kind, strings.Join(Types, ", "))
	}
}

// serve answers requests until ctx ends, and for as long as it then takes to stop.
func (n *node) serve(ctx context.Context, r role) error {
	listener, err := net.Listen("tcp", net.JoinHostPort(n.address, strconv.Itoa(Port)))
	if err != nil {
		return err
	}
	server := &http.Server{Handler: n.mux, ReadHeaderTimeout: 5 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	started := make(chan error, 1)
	go func() { started <- r.start(ctx) }()
	select {
	case err := <-ended:
		return err
	case err := <-started:
		if err != nil && ctx.Err() == nil {
			return err
		}
		n.ready.Store(err == nil)
	case <-ctx.Done():
	}
	<-ctx.Done()
	n.ready.Store(false)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	r.stop(last)
	if err := server.Shutdown(last); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// replicas is on how many storage nodes a value is to be.
func (n *node) replicas() int {
	if value, err := strconv.Atoi(n.config["replicas"]); err == nil && value > 0 {
		return value
	}
	return 2
}

// readProperties reads lines key=value; no file is none.
func readProperties(file string) (map[string]string, error) {
	properties := map[string]string{}
	if file == "" {
		return properties, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if key, value, ok := strings.Cut(line, "="); ok {
			properties[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return properties, nil
}

func newClient() (client.Client, error) {
	cfg, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	return client.New(cfg, client.Options{})
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
