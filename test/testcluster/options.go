package testcluster

import "strconv"

// options are what a test binary asks of its cluster.
type options struct {
	nodes     []string
	fakeNodes int
	more      []string
}

func defaults() options {
	return options{nodes: []string{"minikube", "node-2", "node-3"}}
}

// Option changes the cluster that is started. It has no effect on one that the environment names.
type Option func(*options)

// WithNodes names the nodes that run containers as local processes. No names mean no such nodes.
func WithNodes(names ...string) Option {
	return func(o *options) { o.nodes = names }
}

// WithFakeNodes adds n simulated nodes, fake-0 and on, labelled devcluster.armature.dev/fake=true.
func WithFakeNodes(n int) Option {
	return func(o *options) { o.fakeNodes = n }
}

// WithFlags adds flags of `devcluster up`, such as "--feature-gates=GenericWorkload=true".
func WithFlags(flags ...string) Option {
	return func(o *options) { o.more = append(o.more, flags...) }
}

// flags are those of `devcluster up`.
func (o options) flags() []string {
	flags := append([]string{"--fake-nodes", strconv.Itoa(o.fakeNodes)}, o.more...)
	if len(o.nodes) == 0 {
		return append(flags, "--nodes", "0")
	}
	for _, name := range o.nodes {
		flags = append(flags, "--node-names", name)
	}
	return flags
}

// runsPods says if the cluster has nodes.
func (o options) runsPods() bool { return len(o.nodes) > 0 || o.fakeNodes > 0 }
