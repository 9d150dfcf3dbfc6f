package devcluster

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// flagsEnv has more flags of `devcluster up`.
const flagsEnv = "DEVCLUSTER_FLAGS"

// options are what a test asks of its cluster.
type options struct {
	nodes     []string
	fakeNodes int
	flags     []string
	timeout   time.Duration
	manifests []string
	webhooks  bool
	shared    bool
	output    io.Writer
}

// Option changes the cluster that [Start] or [Up] starts.
type Option func(*options)

// WithNodes adds nodes with these names that run containers as processes of this machine. They don't use images: a command must exist on
// this machine. The default is none.
func WithNodes(names ...string) Option {
	return func(o *options) { o.nodes = append(o.nodes, names...) }
}

// WithFakeNodes sets the number of simulated nodes: fake-0, fake-1, and so on. The default is 1.
func WithFakeNodes(n int) Option {
	return func(o *options) { o.fakeNodes = n }
}

// WithFlags adds flags of `devcluster up`, such as "--feature-gates=GenericWorkload=true" or "--controllers=*,-job-controller". A flag is
// one string with its value. "--containers" is an error, because the test process can't reach such a cluster.
func WithFlags(flags ...string) Option {
	return func(o *options) { o.flags = append(o.flags, flags...) }
}

// WithoutControllers leaves out all controllers but those of namespaces and service accounts, and all nodes. It is for a suite that was
// written for a cluster without controllers and plays them itself: it creates the pods of a StatefulSet, writes the status of a Job, or
// deletes children as the garbage collector does. Nodes of later options are added. Pods of [WithNodes] then need
// automountServiceAccountToken: false, because no controller publishes the authority that they would mount. To leave out single
// controllers, use [WithFlags].
func WithoutControllers() Option {
	return func(o *options) {
		o.nodes, o.fakeNodes = nil, 0
		o.flags = append(o.flags, "--controllers=namespace-controller,serviceaccount-controller")
	}
}

// WithTimeout bounds how long the cluster may take to start. The default is 5 minutes, for a busy machine. A build of the program isn't
// counted.
func WithTimeout(timeout time.Duration) Option {
	return func(o *options) { o.timeout = timeout }
}

// WithManifests applies the objects of these files, or of the files *.yaml, *.yml and *.json of these directories, when the cluster is
// up: CustomResourceDefinitions first, until they are served, then the others. It doesn't read directories in a directory, and runs no
// kustomize: it skips kustomizations, and the documents of a directory that have neither an apiVersion nor a kind.
func WithManifests(paths ...string) Option {
	return func(o *options) { o.manifests = append(o.manifests, paths...) }
}

// WithWebhooks lets the API server call webhooks of this process. See [Webhooks].
func WithWebhooks() Option {
	return func(o *options) { o.webhooks = true }
}

// Shared gives all tests of the test binary that start a cluster with the same options one cluster, which stops when the test binary ends.
// Such tests use namespaces of their own. The option has no effect on [Up].
func Shared() Option {
	return func(o *options) { o.shared = true }
}

// WithOutput writes what devcluster says to w: the progress of the start, and later what fails. One goroutine at a time writes. The
// default is to show it only in an error.
func WithOutput(w io.Writer) Option {
	return func(o *options) { o.output = w }
}

func newOptions(opts []Option) *options {
	o := &options{fakeNodes: 1, timeout: 5 * time.Minute, output: io.Discard}
	for _, opt := range opts {
		opt(o)
	}
	o.flags = append(o.flags, strings.Fields(os.Getenv(flagsEnv))...)
	return o
}

// up are the flags of `devcluster up`.
func (o *options) up() []string {
	flags := []string{"--fake-nodes=" + strconv.Itoa(o.fakeNodes), "--timeout=" + o.timeout.String()}
	if len(o.nodes) == 0 {
		flags = append(flags, "--nodes=0")
	} else {
		flags = append(flags, "--node-names="+strings.Join(o.nodes, ","))
	}
	return append(flags, o.flags...)
}

// refuse returns an error for a flag whose cluster the test process can't use.
func (o *options) refuse() error {
	for _, flag := range o.flags {
		name, value, hasValue := strings.Cut(flag, "=")
		if name != "--containers" {
			continue
		}
		if on, err := strconv.ParseBool(value); on || err != nil || !hasValue {
			return fmt.Errorf("the flag %s: the test process can't reach a cluster with --containers, which is in a network of its own: "+
				"start it with `devcluster up`, and run the test by `devcluster exec` with %s", flag, kubeconfigEnv)
		}
	}
	return nil
}

// key is the same for options of the same cluster.
func (o *options) key() string {
	return fmt.Sprintf("%q %q %t", o.up(), o.manifests, o.webhooks)
}
