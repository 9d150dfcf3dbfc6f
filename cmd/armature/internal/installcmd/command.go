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
		Short: "Install the CRDs, or upgrade those that are there",
		Long: `Install the CRDs that this program needs, or upgrade those that are there. It only returns once they are served.

Refused, before anything is written:
  - a CRD that belongs to a Helm release: upgrade that, or --force
  - a CRD that is newer, since fields that it has would be dropped from all objects at their next write: --force
  - a CRD with objects stored in a version that the new one doesn't have`,
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
	cmd.Flags().BoolVar(&in.dryRun, "dry-run", false, "ask the API server what it would say, and change nothing")
	cmd.Flags().BoolVar(&in.force, "force", false, "also replace CRDs that are newer, or belong to a Helm release")
	return cmd
}
