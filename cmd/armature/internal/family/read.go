package family

import (
	"context"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// Read finds the object that "KIND/NAME" or "KIND NAME" names on the cluster that the flags name, and its family. It sets the client
// of the source.
func Read(
	ctx context.Context, flags *genericclioptions.ConfigFlags, args []string, source Source,
) (*connect.Cluster, Family, error) {
	cluster, err := connect.Open(flags)
	if err != nil {
		return nil, Family{}, err
	}
	root, err := cluster.Find(args)
	if err != nil {
		return nil, Family{}, err
	}
	source.Client, source.Discovery = cluster.Client, cluster.Discovery
	found, err := source.Gather(ctx, root)
	return cluster, found, err
}
