// Package installcmd is "armature install": the CRDs that this program needs, put into a cluster.
package installcmd

import (
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/dynamic"

	"github.com/armature-dev/armature/config/crd"
)

// New returns the command.
func New() *cobra.Command {
	kube := genericclioptions.NewConfigFlags(true)
	in := installer{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install or upgrade the CRDs",
		Long: `Install or upgrade the CRDs that this program needs, and wait until the API server serves them.

The command checks all CRDs before it writes one, and refuses:
  - a CRD that is being deleted: wait until it is gone
  - a CRD of a Helm release: upgrade the release, or use --force
  - a newer CRD, because the API server would drop its additional fields from objects at their next write: use --force
  - a CRD with objects stored in a version that the new CRD doesn't have`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			config, err := kube.ToRESTConfig()
			if err != nil {
				return fmt.Errorf("find the cluster: %w", err)
			}
			if in.client, err = dynamic.NewForConfig(config); err != nil {
				return err
			}
			if in.wanted, err = crd.All(); err != nil {
				return err
			}
			in.out = cmd.OutOrStdout()
			return in.run(cmd.Context())
		},
	}
	kube.AddFlags(cmd.Flags())
	cmd.Flags().BoolVar(&in.dryRun, "dry-run", false, "send dry-run requests to the API server, and change nothing")
	cmd.Flags().BoolVar(&in.force, "force", false, "also replace CRDs that are newer, or belong to a Helm release")
	return cmd
}
