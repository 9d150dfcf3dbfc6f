package component

import (
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode"
)

func newLocalNodesCommand() *cobra.Command {
	var config localnode.Config
	var kubeconfig string
	cmd := &cobra.Command{
		Use:          LocalNodes,
		Args:         cobra.NoArgs,
		SilenceUsage: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
			if err != nil {
				return fmt.Errorf("--kubeconfig: %w", err)
			}
			config.Client, config.APIServer = client, client.Host
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			return localnode.Run(ctx, config)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&kubeconfig, "kubeconfig", "", "identity of all nodes")
	flags.StringSliceVar(&config.Names, "names", nil, "names of the nodes")
	flags.StringToStringVar(&config.Labels, "labels", nil, "labels of the nodes")
	flags.StringVar(&config.Dir, "dir", "", "where pods have their files")
	flags.StringVar(&config.CAFile, "ca-file", "", "certificate authority of the cluster")
	flags.StringVar(&config.CAKeyFile, "ca-key-file", "", "its key")
	return cmd
}
