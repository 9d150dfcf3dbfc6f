package defaults

import (
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func pod(o *corev1.Pod) {
	podSpec(&o.Spec)
	setIfNil(&o.Spec.EnableServiceLinks, true)
	setIfZero(&o.Status.Phase, corev1.PodPending)
	for _, containers := range [][]corev1.Container{o.Spec.InitContainers, o.Spec.Containers} {
		for i := range containers {
			requestLimits(&containers[i].Resources)
			if o.Spec.HostNetwork {
				hostPorts(containers[i].Ports)
			}
		}
	}
}

// requestLimits sets missing requests to the limits, in a Pod only, not in a template.
func requestLimits(r *corev1.ResourceRequirements) {
	if r.Limits == nil {
		return
	}
	requests := r.Limits.DeepCopy()
	maps.Copy(requests, r.Requests)
	r.Requests = requests
}

func hostPorts(ports []corev1.ContainerPort) {
	for i := range ports {
		setIfZero(&ports[i].HostPort, ports[i].ContainerPort)
	}
}

// podSpec sets the defaults of a Pod's spec, in a Pod or in a template.
func podSpec(s *corev1.PodSpec) {
	setIfZero(&s.ServiceAccountName, s.DeprecatedServiceAccount)
	s.DeprecatedServiceAccount = s.ServiceAccountName
	setIfZero(&s.DNSPolicy, corev1.DNSClusterFirst)
	setIfZero(&s.RestartPolicy, corev1.RestartPolicyAlways)
	setIfNil(&s.SecurityContext, corev1.PodSecurityContext{})
	setIfNil(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setIfZero(&s.SchedulerName, corev1.DefaultSchedulerName)
	for i := range s.InitContainers {
		container(&s.InitContainers[i])
	}
	for i := range s.Containers {
		container(&s.Containers[i])
	}
	for i := range s.Volumes {
		volume(&s.Volumes[i].VolumeSource)
	}
}

func container(c *corev1.Container) {
	setIfZero(&c.ImagePullPolicy, pullPolicy(c.Image))
	setIfZero(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setIfZero(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	for i := range c.Ports {
		setIfZero(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		if from := c.Env[i].ValueFrom; from != nil && from.FieldRef != nil {
			setIfZero(&from.FieldRef.APIVersion, "v1")
		}
	}
	for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if p != nil {
			probe(p)
		}
	}
	if c.Lifecycle != nil {
		for _, h := range []*corev1.LifecycleHandler{c.Lifecycle.PostStart, c.Lifecycle.PreStop} {
			if h != nil && h.HTTPGet != nil {
				httpGet(h.HTTPGet)
			}
		}
	}
}

// pullPolicy is Always for the tag latest and for none, unless there is a digest.
func pullPolicy(image string) corev1.PullPolicy {
	if strings.Contains(image, "@") {
		return corev1.PullIfNotPresent
	}
	name := image[strings.LastIndex(image, "/")+1:]
	if _, tag, ok := strings.Cut(name, ":"); ok && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

func probe(p *corev1.Probe) {
	setIfZero(&p.TimeoutSeconds, 1)
	setIfZero(&p.PeriodSeconds, 10)
	setIfZero(&p.SuccessThreshold, 1)
	setIfZero(&p.FailureThreshold, 3)
	if p.HTTPGet != nil {
		httpGet(p.HTTPGet)
	}
	if p.GRPC != nil {
		setIfNil(&p.GRPC.Service, "")
	}
}

func httpGet(a *corev1.HTTPGetAction) {
	setIfZero(&a.Path, "/")
	setIfZero(&a.Scheme, corev1.URISchemeHTTP)
}

func volume(v *corev1.VolumeSource) {
	switch {
	case v.Secret != nil:
		setIfNil(&v.Secret.DefaultMode, corev1.SecretVolumeSourceDefaultMode)
	case v.ConfigMap != nil:
		setIfNil(&v.ConfigMap.DefaultMode, corev1.ConfigMapVolumeSourceDefaultMode)
	case v.DownwardAPI != nil:
		setIfNil(&v.DownwardAPI.DefaultMode, corev1.DownwardAPIVolumeSourceDefaultMode)
		fieldRefs(v.DownwardAPI.Items)
	case v.Projected != nil:
		projected(v.Projected)
	case v.HostPath != nil:
		setIfNil(&v.HostPath.Type, corev1.HostPathUnset)
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		setIfNil(&v.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	case *v == (corev1.VolumeSource{}):
		v.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
}

func projected(v *corev1.ProjectedVolumeSource) {
	setIfNil(&v.DefaultMode, corev1.ProjectedVolumeSourceDefaultMode)
	for i := range v.Sources {
		if token := v.Sources[i].ServiceAccountToken; token != nil && token.ExpirationSeconds == nil {
			token.ExpirationSeconds = ptr.To[int64](3600)
		}
		if api := v.Sources[i].DownwardAPI; api != nil {
			fieldRefs(api.Items)
		}
	}
}

func fieldRefs(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if files[i].FieldRef != nil {
			setIfZero(&files[i].FieldRef.APIVersion, "v1")
		}
	}
}
