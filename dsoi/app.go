package dsoi

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/rollout"
)

// Cluster is an owner that is described in DSOI's terms: a pointer to a kind of yours that embeds them.
type Cluster interface {
	builder.Conditioned
	// Description returns what the spec says, in DSOI's terms. A kind that calls them otherwise (pinotNodeConfig) puts
	// them together here. It must be a function of the spec only, and change nothing of it.
	Description() v1beta1.ClusterSpec
	// ClusterStatus returns the place of the status.
	ClusterStatus() *v1beta1.ClusterStatus
}

// App says what is particular to an application. Its functions must be pure: of the cluster they may use the spec, the
// name and the namespace, and must not change it. Make one, by address, and keep it: it remembers what it has rendered.
type App[C Cluster] struct {
	// Name of the operator, unique in its manager, such as "pinot". It is the value of the label app.kubernetes.io/name,
	// and the field owner of all objects. Required.
	Name string

	// ConfigPath is the directory where containers have the files of their configuration. Default: /etc/<Name>.
	ConfigPath string
	// DataFile is what the file is called that has the data of the application's config groups. Default: config.
	DataFile string
	// PropertiesFile is what the file is called that has their merged properties. Default: runtime.properties.
	PropertiesFile string

	// Image is that of nodes whose Kubernetes configuration has none. Default: such a node is refused.
	Image string

	// Fields are the fields of config groups that the application has beside DSOI's, such as java_opts. Others are
	// refused. [Node.Field] returns them.
	Fields []string

	// Check returns what is wrong with a cluster that only the application knows, each in a sentence that names the
	// field, what was found and what would be accepted: then nothing is changed. Default: nothing.
	Check func(cluster C, nodes []Node) []string

	// Files adds files to the configuration of a node, or changes them; files is the function's. Default: as described.
	Files func(cluster C, node Node, files map[string]string)

	// Pod finishes the pods of a node: the command and arguments of its container (the first one), variables that follow
	// from the configuration, more containers. Default: as described.
	Pod func(cluster C, node Node, pod *corev1.PodTemplateSpec)

	// Scaling is an empty object of the kind that scales the application's clusters, in the same namespace. What one of
	// them scales is left to it. Nil: there is none.
	Scaling Scaling

	// StuckAfter is how long a pod of the newest revision may not be ready before it counts as failed. Default: 10m, as
	// of a Deployment.
	StuckAfter time.Duration

	memo memo
}

func (a *App[C]) configPath() string { return cmp.Or(a.ConfigPath, "/etc/"+a.Name) }

func (a *App[C]) stuckAfter() time.Duration { return cmp.Or(a.StuckAfter, 10*time.Minute) }

// Node is a node with the groups that it names.
type Node struct {
	v1beta1.Node

	// Workload is what the node's StatefulSet, Deployment or DaemonSet is called.
	Workload string
	// K8s is the node's Kubernetes configuration.
	K8s v1beta1.K8sConfigGroup
	// App are the groups of the application's configuration that the node names, in that order.
	App []v1beta1.AppConfigGroup
	// External is what the cluster depends on.
	External v1beta1.Externals
}

// rendered is all that follows from a cluster's spec, name and namespace.
type rendered struct {
	problems []string
	order    []string // of node types
	nodes    []*renderedNode
	rollout  rollout.Options
	size     int // in memory, in bytes
}
