package family

import (
	"context"

	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/armature-dev/armature/cmd/armature/internal/connect"
)

// Read finds the object that "KIND/NAME" or "KIND NAME" names on the cluster that the flags name, and its family.
func Read(ctx context.Context, flags *genericclioptions.ConfigFlags, args []string) (*connect.Cluster, Family, error) {
	cluster, err := connect.Open(flags)
	if err != nil {
		return nil, Family{}, err
	}
	root, err := cluster.Find(args)
	if err != nil {
		return nil, Family{}, err
	}
	found, err := Source{Client: cluster.Client, Discovery: cluster.Discovery}.Gather(ctx, root)
	return cluster, found, err
}
