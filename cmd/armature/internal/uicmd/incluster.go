package uicmd

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"

	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
	"github.com/armature-dev/armature/cmd/armature/internal/uiserver"
	"github.com/armature-dev/armature/ui"
)

// cluster serves everyone who has a token. Of its own configuration only the API server's address and authority are used.
func (o options) cluster(ctx context.Context, version string, out io.Writer) error {
	config, err := o.kube.ToRESTConfig()
	if err != nil {
		return err
	}
	anonymous := rest.AnonymousClientConfig(config)
	login, err := uiserver.NewBearer(ctx, func(token string) (*connect.Cluster, error) {
		viewers := rest.CopyConfig(anonymous)
		viewers.BearerToken = token
		return connect.ForConfig(uiserver.BoundAnswers(viewers))
	})
	if err != nil {
		return err
	}
	handler, err := uiserver.New(uiserver.Options{Assets: ui.Assets(), Version: version, Login: login, Kinds: o.groupKinds()})
	if err != nil {
		return err
	}
	server := newServer(handler)
	if server.TLSConfig, err = o.tls(ctx); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.bindAddress)
	if err != nil {
		return err
	}
	if o.healthAddress != "0" {
		health, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.healthAddress)
		if err != nil {
			return err
		}
		go func() { _ = serve(ctx, newServer(http.HandlerFunc(healthy)), health) }()
	}
	fmt.Fprintf(out, "Serving the viewers of %s at https://%s\n", config.Host, listener.Addr())
	return serve(ctx, server, listener)
}

// healthy answers probes: the server is ready as soon as it listens, whether or not the API server responds, which the page shows.
func healthy(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
		http.NotFound(w, r)
		return
	}
	_, _ = io.WriteString(w, "ok") // an error is the probe's leaving
}

// tls returns the certificate that is given, as it is at each connection, or one that is signed by itself.
func (o options) tls(ctx context.Context) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}
	if o.certDir == "" {
		cert, key, err := certutil.GenerateSelfSignedCertKey("localhost", []net.IP{{127, 0, 0, 1}}, nil)
		if err != nil {
			return nil, err
		}
		pair, err := tls.X509KeyPair(cert, key)
		config.Certificates = []tls.Certificate{pair}
		return config, err
	}
	watcher, err := certwatcher.New(filepath.Join(o.certDir, "tls.crt"), filepath.Join(o.certDir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("--cert-dir: %w", err)
	}
	go func() { _ = watcher.Start(ctx) }()
	config.GetCertificate = watcher.GetCertificate
	return config, nil
}
