package component

import (
	"fmt"
	"net/url"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcdPeerURL is a name only: a cluster of one member talks to no peer, and no peer port is opened.
const etcdPeerURL = "http://127.0.0.1:2380"

func newEtcdCommand() *cobra.Command {
	config := embed.NewConfig()
	var clientURL string
	cmd := &cobra.Command{
		Use:          Etcd,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEtcd(cmd, config, clientURL)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&config.Dir, "data-dir", "", "where the data is")
	flags.StringVar(&clientURL, "listen-client-urls", "", "the URL to serve clients on")
	flags.StringVar(&config.ClientTLSInfo.CertFile, "cert-file", "", "serving certificate")
	flags.StringVar(&config.ClientTLSInfo.KeyFile, "key-file", "", "key of the serving certificate")
	flags.StringVar(&config.ClientTLSInfo.TrustedCAFile, "trusted-ca-file", "", "authority of the clients' certificates")
	return cmd
}

func runEtcd(cmd *cobra.Command, config *embed.Config, clientURL string) error {
	client, err := url.Parse(clientURL)
	if err != nil {
		return fmt.Errorf("--listen-client-urls: %w", err)
	}
	peer, err := url.Parse(etcdPeerURL)
	if err != nil {
		return err
	}
	config.Name = "devcluster"
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = nil, []url.URL{*peer}
	config.InitialCluster = config.Name + "=" + etcdPeerURL
	config.ClientTLSInfo.ClientCertAuth = true
	config.EnableGRPCGateway = false
	config.LogLevel = "warn"
	// A crash of the machine may lose the last writes; a crash of etcd does not. For a development cluster
	// that is a good trade: every write is several times faster, and start-up with it.
	config.UnsafeNoFsync = true
	// The one voter elects itself: it need not wait a second to hear from others.
	config.TickMs, config.ElectionMs = 20, 200
	config.QuotaBackendBytes = 8 << 30

	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	server, err := embed.StartEtcd(config)
	if err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	defer server.Close()
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Err():
		return err
	}
}
