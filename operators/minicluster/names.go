package minicluster

import (
	"cmp"
	"strconv"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// What a cluster's objects carry.
const (
	// LabelMiniCluster is the label for the MiniCluster's name, of all that it has.
	LabelMiniCluster = "api.practice.com/minicluster"
	// LabelUID is the label for the MiniCluster's UID, of its pods. The Service selects by it, so that it has no pods but
	// this cluster's, whatever labels other pods have.
	LabelUID = "api.practice.com/minicluster-uid"
	// LabelAttempt is the label of the Job and its pods that says how often the cluster was started again before.
	LabelAttempt = "api.practice.com/restart-attempt"
	// LabelRole is the label of the services' pod that distinguishes it from those of the Job.
	LabelRole = "api.practice.com/role"

	// annotationTemplate is a Job's annotation for a digest of what it was rendered from.
	annotationTemplate = "api.practice.com/template"
	// annotationQueue is a Job's annotation for the queue and the priority that it was created for, see queueOf.
	annotationQueue = "api.practice.com/queue"
	// annotationSpent is a Job's annotation for how many seconds of the deadline had passed when it was made.
	annotationSpent = "api.practice.com/deadline-spent-seconds"
	// annotationFailure is a Job's annotation for why the operator has made it fail, if it wasn't that the leader was lost.
	annotationFailure = "api.practice.com/failure"
)

// The names of what a cluster has besides its Job and, by default, its Service, which are called as the MiniCluster.
func scriptsName(c *v1alpha1.MiniCluster) string  { return c.Name + "-entrypoint" }
func configName(c *v1alpha1.MiniCluster) string   { return c.Name + "-flux-config" }
func curveName(c *v1alpha1.MiniCluster) string    { return c.Name + "-curve" }
func servicesName(c *v1alpha1.MiniCluster) string { return c.Name + "-services" }

// headlessName is the name of the Service, and the domain of the hosts.
func headlessName(c *v1alpha1.MiniCluster) string {
	return cmp.Or(c.Spec.Network.HeadlessName, c.Name)
}

// domain is where the hosts of a cluster are found in DNS: <host>.<domain>.
func domain(c *v1alpha1.MiniCluster) string {
	return headlessName(c) + "." + c.Namespace + ".svc." + cmp.Or(c.Spec.Network.Domain, "cluster.local")
}

// Directories in the containers.
const (
	ownDir     = "/minicluster"
	scriptsDir = ownDir + "/scripts"
	configDir  = ownDir + "/config"
	curveDir   = ownDir + "/curve"
)

// baseDir is where Flux and its state are.
func baseDir(c *v1alpha1.MiniCluster) string {
	return cmp.Or(c.Spec.Flux.Container.MountPath, "/mnt/flux")
}

// privateDir is a directory in memory, for the certificate and the broker's sockets.
func privateDir(c *v1alpha1.MiniCluster) string { return baseDir(c) + "/config" }

// runMount is where the volume of the broker's socket is mounted, for sidecars too: they see nothing of privateDir.
func runMount(c *v1alpha1.MiniCluster) string { return baseDir(c) + "/run" }

// runDir is the broker's directory in it, for its user only.
func runDir(c *v1alpha1.MiniCluster) string { return runMount(c) + "/flux" }

// softwareDir is where the Flux of the init container looks for its libraries.
const softwareDir = "/opt/software"

// curvePath is where the certificate is for the broker.
func curvePath(c *v1alpha1.MiniCluster) string { return privateDir(c) + "/curve/curve.cert" }

// Keys of the ConfigMaps and the Secret.
const (
	brokerKey   = "broker.toml"
	curveKey    = "curve.cert"
	settingsKey = "settings.sh"
	runKey      = "run.sh"
	commandKey  = "command"
	scriptKey   = "script"
)

// maximumSize is the most pods that a cluster can have.
func maximumSize(c *v1alpha1.MiniCluster) int32 {
	switch {
	case c.Status.StartTime != nil && c.Status.MaximumSize > 0:
		return c.Status.MaximumSize
	case c.Spec.MaxSize > 0:
		return c.Spec.MaxSize
	default:
		return size(c)
	}
}

// size is how many pods a cluster should have.
func size(c *v1alpha1.MiniCluster) int32 { return cmp.Or(c.Spec.Size, 1) }

// startSize is how many pods the cluster's configuration is made for: those it starts with. Scaling doesn't change it.
func startSize(c *v1alpha1.MiniCluster) int32 {
	if c.Status.StartTime != nil && c.Status.StartSize > 0 {
		return c.Status.StartSize
	}
	return size(c)
}

// quorum is how many brokers must be there for the work to begin.
func quorum(c *v1alpha1.MiniCluster) int32 { return cmp.Or(c.Spec.MinSize, startSize(c)) }

// hosts names the hosts of all pods that a cluster can ever have, as Flux writes lists of them.
func hosts(c *v1alpha1.MiniCluster) string {
	if n := maximumSize(c); n > 1 {
		return c.Name + "-[0-" + strconv.Itoa(int(n)-1) + "]"
	}
	return c.Name + "-0"
}

// isQueued reports whether Kueue decides when the cluster's Job starts, by the labels that the Job is created with.
func isQueued(c *v1alpha1.MiniCluster) bool {
	return c.Labels[v1alpha1.LabelKueueQueue] != "" || c.Spec.JobLabels[v1alpha1.LabelKueueQueue] != ""
}

// isQueued reports whether Kueue decides when the cluster's Job starts. In a namespace with a default LocalQueue, Kueue labels the Job
// itself.
func (p *pass) isQueued(o *observed) bool {
	return isQueued(p.c) || o.job != nil && lifecycle.IsQueued(o.job)
}
