package localnode

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"

	"github.com/armature-dev/armature/devcluster/cmd/devcluster/internal/localnode/shim"
)

// Config says which nodes to run and how they reach the API server.
type Config struct {
	// Client is the identity used for all nodes.
	Client *rest.Config
	// Names are the names of the nodes.
	Names []string
	// Dir is for working data: Dir/<node>/pods/<uid>/...
	Dir string
	// CAFile and CAKeyFile are the cluster's certificate authority. It issues
	// each node's serving certificate and verifies who connects to it.
	CAFile, CAKeyFile string
	// Labels are extra labels of the nodes.
	// +optional
	Labels map[string]string
	// APIServer is the URL of the API server, for containers.
	APIServer string
}

// ShimCommand is the first argument that makes the program a container's shim
// instead. main has to route it to Shim before it does anything else.
const ShimCommand = shim.Command

// Shim is the shim's main function; args are those after ShimCommand.
func Shim(args []string) int { return shim.Main(args) }

// nodesLimit is how many nodes can have a range of addresses of their own.
const nodesLimit = 250

func (c *Config) validate() (server *url.URL, err error) {
	if runtime.GOOS == "windows" {
		return nil, errors.New("local nodes need Linux or macOS")
	}
	if c.Client == nil {
		return nil, errors.New("localnode.Config.Client is not set")
	}
	if len(c.Names) > nodesLimit {
		return nil, fmt.Errorf("localnode.Config.Names: %d nodes, at most %d can run on one machine", len(c.Names), nodesLimit)
	}
	for i, name := range c.Names {
		if errs := validation.IsDNS1123Subdomain(name); len(errs) > 0 {
			return nil, fmt.Errorf("localnode.Config.Names: %q is not a node name: %s", name, errs[0])
		}
		if slices.Contains(c.Names[:i], name) {
			return nil, fmt.Errorf("localnode.Config.Names: %q is there twice", name)
		}
	}
	if !filepath.IsAbs(c.Dir) {
		return nil, fmt.Errorf("localnode.Config.Dir: %q is not an absolute path", c.Dir)
	}
	server, err = url.Parse(c.APIServer)
	if err != nil || server.Scheme != "https" || server.Hostname() == "" {
		return nil, fmt.Errorf("localnode.Config.APIServer: %q is not an https URL", c.APIServer)
	}
	return server, nil
}
