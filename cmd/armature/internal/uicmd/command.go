// Package uicmd is "armature ui": a page that shows flows, queues and clusters, served on loopback for oneself, or in the cluster for
// everyone with his own token.
package uicmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/output"
	"github.com/armature-dev/armature/cmd/armature/internal/uiserver"
	"github.com/armature-dev/armature/ui"
)

// options are the flags.
type options struct {
	kube  *genericclioptions.ConfigFlags
	port  int
	open  bool
	kinds []string

	inCluster     bool
	bindAddress   string
	certDir       string
	healthAddress string
}

// New returns the command.
func New() *cobra.Command {
	o := options{kube: connect.Flags()}
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Show flows, queues and clusters in the browser",
		Long: `Show flows, queues and clusters in the browser, live. The command serves a page at a port of 127.0.0.1 until it is
interrupted, and opens it. The page shows the objects and offers the actions that your permissions allow. The page requires the printed
link, which contains a token.

With --in-cluster, the command serves all users by https. It sends each request to the API server with the viewer's own bearer token,
which a proxy sends in the Authorization header or the viewer pastes. The command has no permissions of its own, and stores no token.`,
		Example: "  armature ui\n  armature ui --context staging --port 8080\n  armature ui --kinds KV.example.com",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.validate(cmd); err != nil {
				return err
			}
			run := o.loopback
			if o.inCluster {
				run = o.cluster
			}
			return run(cmd.Context(), cmd.Root().Version, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.port, "port", 0, "`port` of 127.0.0.1 (default: a free one)")
	f.BoolVar(&o.open, "open", true, "open the page in the browser, if the output is a terminal")
	f.StringSliceVar(&o.kinds, "kinds", nil, "`kinds` of other operators to show as well, as Kind.group, separated by commas")
	f.BoolVar(&o.inCluster, "in-cluster", false, "serve all users by https, with their own tokens")
	f.StringVar(&o.bindAddress, "bind-address", ":8443", "`address` of the page with --in-cluster")
	f.StringVar(&o.certDir, "cert-dir", "", "`directory` of tls.crt and tls.key with --in-cluster, read again when they change "+
		"(default: a self-signed certificate)")
	f.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081",
		"`address` of the health endpoints with --in-cluster, /healthz and /readyz; 0 for none")
	o.kube.AddFlags(f)
	_ = cmd.RegisterFlagCompletionFunc("kinds", cobra.NoFileCompletions)
	return cmd
}

// validate refuses flags that can't work together.
func (o options) validate(cmd *cobra.Command) error {
	if o.port < 0 || o.port > 65535 {
		return fmt.Errorf("--port must be from 0 to 65535, got %d", o.port)
	}
	for _, name := range []string{"bind-address", "cert-dir", "health-probe-bind-address"} {
		if cmd.Flags().Changed(name) && !o.inCluster {
			return fmt.Errorf("--%s means nothing without --in-cluster", name)
		}
	}
	if o.inCluster && cmd.Flags().Changed("port") {
		return errors.New("--port has no effect with --in-cluster: use --bind-address")
	}
	for _, name := range o.kinds {
		if gk := schema.ParseGroupKind(name); gk.Kind == "" || gk.Group == "" {
			return fmt.Errorf("--kinds: %q; accepted is Kind.group, such as KV.example.com", name)
		}
	}
	if err := uiserver.CheckKinds(o.groupKinds()); err != nil {
		return fmt.Errorf("--kinds: %w", err)
	}
	return nil
}

// groupKinds are the kinds of others.
func (o options) groupKinds() []schema.GroupKind {
	var all []schema.GroupKind
	for _, name := range o.kinds {
		all = append(all, schema.ParseGroupKind(name))
	}
	return all
}

// loopback serves the person who has the kubeconfig.
func (o options) loopback(ctx context.Context, version string, out io.Writer) error {
	cluster, err := connect.Open(o.kube.WithWrapConfigFn(uiserver.BoundAnswers))
	if err != nil {
		return err
	}
	if _, err := cluster.Discovery.ServerVersion(); err != nil {
		return err // better here than on an empty page
	}
	viewer, err := uiserver.NewViewer(ctx, cluster)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(o.port)))
	if err != nil {
		return err
	}
	config, err := o.kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	name := config.CurrentContext
	if o.kube.Context != nil && *o.kube.Context != "" {
		name = *o.kube.Context
	}
	login, err := uiserver.NewLoopback(viewer, listener.Addr(), name)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	handler, err := uiserver.New(uiserver.Options{Assets: ui.Assets(), Version: version, Login: login, Kinds: o.groupKinds()})
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	fmt.Fprintf(out, "Serving %s until interrupted. Open this link, which gives access with your permissions:\n  %s\n",
		cluster.Config.Host, login.Link())
	if o.open && output.Terminal(out) != nil {
		forget := openBrowser(ctx, login.Link())
		defer forget()
	}
	return serve(ctx, newServer(handler), listener)
}

// newServer has no limit of the time of an answer: streams last. Each write of theirs has one.
func newServer(handler http.Handler) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10}
}

// serve serves until the context ends. Streams have no end of their own, so that none is waited for.
func serve(ctx context.Context, server *http.Server, listener net.Listener) error {
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	serve := server.Serve
	if server.TLSConfig != nil {
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	err := serve(listener)
	if errors.Is(err, http.ErrServerClosed) && ctx.Err() != nil {
		return nil // it was asked to end
	}
	return err
}
