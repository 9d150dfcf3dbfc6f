package localnode

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"time"

	"github.com/virtual-kubelet/virtual-kubelet/errdefs"
	"github.com/virtual-kubelet/virtual-kubelet/node/api"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/pods"
)

// streamIdle is how long an idle exec or port-forward stays open, as in the kubelet.
const streamIdle = 4 * time.Hour

// server is the kubelet's API: what kubectl logs, exec, attach and port-forward
// reach through the API server.
type server struct {
	provider *provider
	http     *http.Server
}

func newServer(client kubernetes.Interface, p *provider, config *tls.Config) *server {
	s := &server{provider: p}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", s.logs)
	mux.Handle("/", api.PodHandler(api.PodHandlerConfig{
		RunInContainer: s.exec, AttachToContainer: s.attach, PortForward: s.portForward,
		GetPods: p.GetPods,
		GetPodsFromKubernetes: func(context.Context) ([]*corev1.Pod, error) {
			return p.lister.List(labels.Everything())
		},
		StreamIdleTimeout: streamIdle, StreamCreationTimeout: 30 * time.Second,
	}, true))
	s.http = &http.Server{
		Handler:           newAuthorizer(client, p.host.NodeName).wrap(mux),
		TLSConfig:         config,
		ReadHeaderTimeout: 30 * time.Second,
		// Connections that come to nothing, as with port scanners, are not errors here.
		ErrorLog: stdlog.New(io.Discard, "", 0),
	}
	return s
}

// serve returns when ctx has ended and connections are closed.
func (s *server) serve(ctx context.Context, listener net.Listener) {
	stop := context.AfterFunc(ctx, func() { s.http.Close() })
	defer stop()
	if err := s.http.ServeTLS(listener, "", ""); !errors.Is(err, http.ErrServerClosed) {
		logger{}.WithError(err).Errorf("node %s: the server of logs and exec has ended", s.provider.host.NodeName)
	}
}

// logs replaces virtual-kubelet's handler, which cannot tell "no lines" from "all
// lines" and puts the messages for the user behind its own.
func (s *server) logs(w http.ResponseWriter, r *http.Request) {
	opts, err := logOptions(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	namespace, name := r.PathValue("namespace"), r.PathValue("pod")
	var object *corev1.Pod
	var live *pods.Pod
	if t, err := s.provider.current(namespace, name); err == nil {
		object, live = t.Object(), t.Pod
	} else if object, err = s.provider.lister.Pods(namespace).Get(name); err != nil {
		http.Error(w, fmt.Sprintf("pod %q is not on node %q", name, s.provider.host.NodeName), http.StatusNotFound)
		return
	}
	err = pods.Logs(r.Context(), flushing{w}, s.provider.host.Dir, object, live, r.PathValue("container"), opts)
	switch {
	case errdefs.IsNotFound(err):
		http.Error(w, err.Error(), http.StatusNotFound)
	case errdefs.IsInvalidInput(err):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// flushing sends every line at once, for those who follow a log.
type flushing struct{ http.ResponseWriter }

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if flusher, ok := f.ResponseWriter.(http.Flusher); ok {
		flusher.Flush()
	}
	return n, err
}

func (s *server) exec(ctx context.Context, namespace, pod, container string, command []string, streams api.AttachIO) error {
	t, err := s.provider.current(namespace, pod)
	if err != nil {
		return err
	}
	return t.Exec(ctx, container, command, streams)
}

func (s *server) attach(ctx context.Context, namespace, pod, container string, streams api.AttachIO) error {
	t, err := s.provider.current(namespace, pod)
	if err != nil {
		return err
	}
	return t.Attach(ctx, container, streams)
}

// portForward connects to the pod's address, or to 127.0.0.1 if the program only
// listens there, as it may within a real pod.
func (s *server) portForward(ctx context.Context, namespace, pod string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	t, err := s.provider.current(namespace, pod)
	if err != nil {
		return err
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(t.IP(), fmt.Sprint(port)))
	if err != nil {
		conn, err = dialer.DialContext(ctx, "tcp", net.JoinHostPort(nodeIP, fmt.Sprint(port)))
	}
	if err != nil {
		return fmt.Errorf("nothing listens on port %d of pod %s/%s: %w", port, namespace, pod, err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, stream)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, conn)
	return err
}
