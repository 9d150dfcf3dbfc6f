package conformance

import corev1 "k8s.io/api/core/v1"

// podReferences starts pods before the Secret and the ConfigMap that they need.
func podReferences(s *session) {
	local := corev1.LocalObjectReference{Name: "config"}
	pods := map[string]func(*corev1.PodSpec){
		"key": func(o *corev1.PodSpec) {
			o.Containers[0].Env = []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{
				SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: local, Key: "key"},
			}}}
		},
		"all": func(o *corev1.PodSpec) {
			o.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: local}}}
		},
		"volume": func(o *corev1.PodSpec) {
			o.Volumes = []corev1.Volume{{Name: "x", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "config"}}}}
		},
	}
	names := []string{"key", "all", "volume"}
	for _, name := range names {
		pod := &corev1.Pod{ObjectMeta: meta(name), Spec: corev1.PodSpec{
			Containers: []corev1.Container{s.runs(name, -1)}, TerminationGracePeriodSeconds: new(int64(1)),
		}}
		pods[name](&pod.Spec)
		s.given(pod)
	}
	for _, name := range names {
		waiting := func(o *corev1.Pod) *corev1.ContainerStateWaiting {
			if len(o.Status.ContainerStatuses) != 1 {
				return nil
			}
			return o.Status.ContainerStatuses[0].State.Waiting
		}
		pod := awaits(s, "a reason", s.pod(name), func(o *corev1.Pod) bool {
			w := waiting(o)
			return w != nil && (name == "volume" || w.Reason != "ContainerCreating") // the kubelet's first reason for all pods
		})
		s.note(name, []string{string(pod.Status.Phase), waiting(pod).Reason}) // the messages differ between kubelets
	}
	s.given(&corev1.Secret{ObjectMeta: meta("config"), Data: map[string][]byte{"key": []byte("x")}})
	s.given(&corev1.ConfigMap{ObjectMeta: meta("config"), Data: map[string]string{"KEY": "x"}})
	for _, name := range names {
		pod := awaits(s, "a running container", s.pod(name), func(o *corev1.Pod) bool { return o.Status.Phase == corev1.PodRunning })
		s.note(name+" runs", pod.Status.ContainerStatuses[0].RestartCount)
	}
}
