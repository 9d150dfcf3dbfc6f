package minicluster

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// What the container that does the work is told by its environment, for a launcher to find the other pods: host
// <name>-<rank>.<domain>, for ranks below the size that the cluster was started with.
const (
	envTasks  = "MINICLUSTER_TASKS"
	envSize   = "MINICLUSTER_SIZE"
	envName   = "MINICLUSTER_NAME"
	envDomain = "MINICLUSTER_DOMAIN"
)

const (
	defaultViewImage = "ghcr.io/converged-computing/flux-view-rocky:tag-9"
	// Until a pod is ready it is asked often, in seconds, and for as long as it takes. From then on rarely and patiently:
	// an answer that is late under load says nothing.
	startPeriod  = 2
	readyPeriod  = 30
	probeTimeout = 15
	readyMisses  = 3
)

// workContainer renders the container that does the work.
func workContainer(c *v1alpha1.MiniCluster) corev1.Container {
	_, w := worker(c)
	container := common(w, workerName(c))
	container.Command = []string{
		"sh", scriptsDir + "/start.sh", scriptsDir, configDir, curveDir, baseDir(c), privateDir(c),
		c.Spec.Archive.Path, cmp.Or(w.Logs, "/tmp/fluxout"), runDir(c), softwareDir,
	}
	container.VolumeMounts = append(ownMounts(c), userMounts(w)...)
	container.Env = append(launcherEnv(c, w), secretVariables(w.Secrets)...)
	if c.Spec.Flux.Disable {
		return container
	}
	if !slices.Contains(w.Ports, brokerPort) {
		container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: brokerPort, Protocol: corev1.ProtocolTCP})
	}
	container.StartupProbe = probe(c, startPeriod, math.MaxInt32)
	container.ReadinessProbe = probe(c, readyPeriod, readyMisses)
	return container
}

// probe asks whether the broker is ready.
func probe(c *v1alpha1.MiniCluster, period, misses int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{
			Command: []string{"sh", scriptsDir + "/ready.sh", scriptsDir, baseDir(c), privateDir(c)},
		}},
		PeriodSeconds:    period,
		TimeoutSeconds:   probeTimeout,
		FailureThreshold: misses,
		SuccessThreshold: 1,
	}
}

// launcherEnv is what a launcher needs to know, and what the user sets for Flux. The container's own variables hold where
// both set one.
func launcherEnv(c *v1alpha1.MiniCluster, w *v1alpha1.MiniClusterContainer) []corev1.EnvVar {
	own := map[string]string{
		envName:   c.Name,
		envDomain: domain(c),
		envSize:   itoa(startSize(c)),
		envTasks:  itoa(ptr.Deref(c.Spec.Tasks, 1)),
	}
	maps.Copy(own, c.Spec.Flux.Environment)
	maps.Copy(own, w.Environment)
	for name := range w.Secrets {
		delete(own, name)
	}
	return variables(own)
}

// sidecar renders a container beside the work. It is an init container that goes on: Kubernetes starts it before the
// work and stops it after, so that it doesn't keep the pod from ending. Kubernetes starts one that ends again, so side.sh
// keeps one whose command has ended well.
func sidecar(c *v1alpha1.MiniCluster, s *v1alpha1.MiniClusterContainer) corev1.Container {
	container := service(c, s)
	container.VolumeMounts = append(sidecarMounts(c, s), userMounts(s)...)
	if isWrapped(s) {
		how := "once"
		if waitsForSocket(c, s) {
			how += ",socket"
		}
		container.Command = append(container.Command, runDir(c), softwareDir, how)
	}
	container.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	return container
}

// service renders a container with a command of its own.
func service(c *v1alpha1.MiniCluster, s *v1alpha1.MiniClusterContainer) corev1.Container {
	container := common(s, s.Name)
	container.VolumeMounts = append(sideMounts(c), userMounts(s)...)
	switch {
	case isWrapped(s):
		container.Command = []string{"sh", scriptsDir + "/side.sh", scriptsDir, baseDir(c), s.Name}
	case s.Command != "":
		container.Command = []string{"sh", "-c", s.Command}
	}
	return container
}

// isWrapped reports whether a sidecar's or service's command is run by side.sh. Without a command commands.post is one, as
// in flux-operator.
func isWrapped(s *v1alpha1.MiniClusterContainer) bool {
	return (s.Command != "" || s.Commands.Post != "") && !s.NoWrapEntrypoint
}

// waitsForSocket reports whether a sidecar's command waits until the broker serves: one that names its socket does. Others
// may be what the work itself waits for.
func waitsForSocket(c *v1alpha1.MiniCluster, s *v1alpha1.MiniClusterContainer) bool {
	return !c.Spec.Flux.Disable && !c.Spec.Flux.NoWaitSocket && strings.Contains(s.Command+s.Commands.Post, "fluxsocket")
}

// viewContainer renders the init container that brings Flux.
func viewContainer(c *v1alpha1.MiniCluster) corev1.Container {
	view := &c.Spec.Flux.Container
	container := corev1.Container{
		Name:            cmp.Or(view.Name, "flux-view"),
		Image:           cmp.Or(view.Image, defaultViewImage),
		Command:         []string{"sh", scriptsDir + "/view.sh", baseDir(c)},
		WorkingDir:      view.WorkingDir,
		Resources:       *view.Resources.DeepCopy(),
		SecurityContext: view.SecurityContext.DeepCopy(),
		VolumeMounts:    sideMounts(c),
	}
	if view.PullAlways {
		container.ImagePullPolicy = corev1.PullAlways
	}
	return container
}

// common renders what every container has.
func common(s *v1alpha1.MiniClusterContainer, name string) corev1.Container {
	container := corev1.Container{
		Name:            name,
		Image:           s.Image,
		ImagePullPolicy: s.ImagePullPolicy,
		WorkingDir:      s.WorkingDir,
		Env:             append(variables(s.Environment), secretVariables(s.Secrets)...),
		Resources:       *s.Resources.DeepCopy(),
		SecurityContext: s.SecurityContext.DeepCopy(),
	}
	if s.PullAlways {
		container.ImagePullPolicy = corev1.PullAlways
	}
	for _, port := range s.Ports {
		container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port, Protocol: corev1.ProtocolTCP})
	}
	if start, stop := s.LifeCycle.PostStartExec, s.LifeCycle.PreStopExec; start != "" || stop != "" {
		container.Lifecycle = &corev1.Lifecycle{PostStart: hook(start), PreStop: hook(stop)}
	}
	return container
}

func hook(command string) *corev1.LifecycleHandler {
	if command == "" {
		return nil
	}
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", command}}}
}

// variables returns environment variables, by name.
func variables(values map[string]string) []corev1.EnvVar {
	var all []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all = append(all, corev1.EnvVar{Name: name, Value: values[name]})
	}
	return all
}

func secretVariables(secrets map[string]v1alpha1.MiniClusterSecret) []corev1.EnvVar {
	var all []corev1.EnvVar
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		all = append(all, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: secrets[name].Name}, Key: secrets[name].Key,
		}}})
	}
	return all
}
