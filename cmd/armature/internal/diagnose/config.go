package diagnose

import (
	corev1 "k8s.io/api/core/v1"
)

// Reference is a Secret or a ConfigMap that a pod can't start without.
type Reference struct {
	// Kind is Secret or ConfigMap.
	Kind, Name string
	// Place says where the pod names it.
	Place string
}

// References returns the Secrets and ConfigMaps that a pod can't start without, in the order in which it needs them.
func References(pod *corev1.Pod) []Reference {
	var all []Reference
	add := func(kind, name, place string, optional *bool) {
		if name != "" && (optional == nil || !*optional) {
			all = append(all, Reference{kind, name, place})
		}
	}
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		place := "its volume " + v.Name
		if v.Secret != nil {
			add("Secret", v.Secret.SecretName, place, v.Secret.Optional)
		}
		if v.ConfigMap != nil {
			add("ConfigMap", v.ConfigMap.Name, place, v.ConfigMap.Optional)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.Secret != nil {
				add("Secret", source.Secret.Name, place, source.Secret.Optional)
			}
			if source.ConfigMap != nil && source.ConfigMap.Name != "kube-root-ca.crt" {
				add("ConfigMap", source.ConfigMap.Name, place, source.ConfigMap.Optional)
			}
		}
	}
	for _, c := range containers(pod) {
		for _, e := range c.Env {
			place := "variable " + e.Name + " of " + c.what()
			if e.ValueFrom == nil {
				continue
			}
			if ref := e.ValueFrom.SecretKeyRef; ref != nil {
				add("Secret", ref.Name, place, ref.Optional)
			}
			if ref := e.ValueFrom.ConfigMapKeyRef; ref != nil {
				add("ConfigMap", ref.Name, place, ref.Optional)
			}
		}
		for _, e := range c.EnvFrom {
			if e.SecretRef != nil {
				add("Secret", e.SecretRef.Name, "envFrom of "+c.what(), e.SecretRef.Optional)
			}
			if e.ConfigMapRef != nil {
				add("ConfigMap", e.ConfigMapRef.Name, "envFrom of "+c.what(), e.ConfigMapRef.Optional)
			}
		}
	}
	return all
}

// absentConfig: the pod waits for a Secret or a ConfigMap that doesn't exist.
func absentConfig(s subject) *Finding {
	if s.pod == nil || s.pod.Status.Phase != corev1.PodPending {
		return nil
	}
	for _, r := range References(s.pod) {
		if s.Absent[r.Kind+"/"+r.Name] {
			return blocked(r.Kind+"Missing", "it can't start, because %s needs the %s %s, which doesn't exist", r.Place, r.Kind, r.Name).
				do("create the %s in namespace %s; the pod then starts automatically", r.Kind, s.GetNamespace())
		}
	}
	return nil
}

// containerConfig: the container runtime can't create or start a container.
func containerConfig(s subject) *Finding {
	if s.pod == nil {
		return nil
	}
	for _, c := range containers(s.pod) {
		w := c.status.State.Waiting
		if w == nil {
			continue
		}
		switch w.Reason {
		case "CreateContainerConfigError":
			return blocked("ConfigError", "%s can't be configured: %s", c.what(), w.Message).
				do("correct what the message names, for example the key of a Secret or ConfigMap")
		case "CreateContainerError", "RunContainerError", "StartError", "PostStartHookError", "PreCreateHookError", "PreStartHookError":
			return blocked("ContainerNotStarted", "%s can't be started: %s", c.what(), ending(w.Reason, w.Message)).
				do("correct its command, its mounts or its securityContext in the pod template")
		}
	}
	return nil
}

// volumeStuck: the node can't mount one of the pod's volumes.
func volumeStuck(s subject) *Finding {
	if s.pod == nil || s.pod.Status.Phase != corev1.PodPending || s.pod.Spec.NodeName == "" {
		return nil
	}
	for _, c := range containers(s.pod) {
		if c.status.State.Running != nil || c.status.State.Terminated != nil {
			return nil
		}
	}
	e := s.warning("FailedMount", "FailedAttachVolume", "FailedMapVolume")
	if e == nil {
		return nil
	}
	return blocked("VolumeNotMounted", "it can't start, because a volume can't be mounted: %s", e.Message).
		do("check the volume's provider, and read the kubelet's events: kubectl describe pod %s -n %s", s.GetName(), s.GetNamespace())
}
