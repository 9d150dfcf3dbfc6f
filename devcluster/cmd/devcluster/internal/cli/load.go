package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/clusterdir"
	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/containernode"
)

func newLoad() *cobra.Command {
	var nodes []string
	cmd := &cobra.Command{
		Use:   "load IMAGE.tar...",
		Short: "Load images from OCI or Docker archives into the nodes of a cluster with --containers",
		Long: `Load images from OCI or Docker archives into the nodes of a cluster with --containers, which can reach no
registry. Pods must not insist on one either: their imagePullPolicy has to be IfNotPresent or Never, and Always is the
default of images called :latest.`,
		Example: `  make image && devcluster load dist/armature.tar`,
		Args:    cobra.MinimumNArgs(1),
	}
	dirOf := dirFlag(cmd)
	cmd.Flags().StringSliceVar(&nodes, "nodes", nil, "names of the nodes (default all)")
	cmd.RunE = func(_ *cobra.Command, archives []string) error {
		dir, err := dirOf()
		if err != nil {
			return err
		}
		return load(dir, nodes, archives)
	}
	return cmd
}

func load(dir clusterdir.Dir, nodes, archives []string) error {
	pid, err := networkOf(dir)
	if err != nil {
		return err
	}
	if pid == 0 {
		return fmt.Errorf("the nodes of the cluster in %s run no images: `devcluster up --containers` starts one whose nodes do", dir)
	}
	settings, err := dir.LoadSettings()
	if err != nil {
		return err
	}
	if len(nodes) == 0 {
		nodes = settings.Nodes
	}
	for _, node := range nodes {
		if !slices.Contains(settings.Nodes, node) {
			return fmt.Errorf("--nodes: there is no node %q: accepted are %s", node, strings.Join(settings.Nodes, ", "))
		}
	}
	for _, archive := range archives {
		if _, err := os.Stat(archive); err != nil {
			return err
		}
		for _, node := range nodes {
			socket, err := containernode.Socket(dir.Node(node))
			if err != nil {
				return err
			}
			cmd := containernode.Import(filepath.Join(settings.NodeBinaries, "ctr"), socket, archive)
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("load %s into %s: %w\n%s", archive, node, err, out)
			}
		}
		fmt.Printf("%s: loaded into %s\n", archive, strings.Join(nodes, ", "))
	}
	return nil
}
