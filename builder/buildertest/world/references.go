package world

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// clusterCA is the ConfigMap that a real cluster publishes in each namespace.
const clusterCA = "kube-root-ca.crt"

// reference is a Secret or a ConfigMap that a pod needs. The zero value is none.
type reference struct {
	kind, name, key string // key is empty for the whole object
	isVolume        bool
}

// referencesOf returns the Secrets and ConfigMaps without which a pod can't start: first those of its volumes, then those of the
// environments of its containers, as a kubelet asks for them. Optional ones don't count.
func referencesOf(pod *corev1.Pod) []reference {
	var all []reference
	add := func(isVolume bool, kind, name, key string, optional *bool) {
		if !ptr.Deref(optional, false) && (kind != "configmap" || name != clusterCA) {
			all = append(all, reference{kind: kind, name: name, key: key, isVolume: isVolume})
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil {
			add(true, "secret", v.Secret.SecretName, "", v.Secret.Optional)
		}
		if v.ConfigMap != nil {
			add(true, "configmap", v.ConfigMap.Name, "", v.ConfigMap.Optional)
		}
		for _, p := range ptr.Deref(v.Projected, corev1.ProjectedVolumeSource{}).Sources {
			if p.Secret != nil {
				add(true, "secret", p.Secret.Name, "", p.Secret.Optional)
			}
			if p.ConfigMap != nil {
				add(true, "configmap", p.ConfigMap.Name, "", p.ConfigMap.Optional)
			}
		}
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			addEnvironment(&containers[i], add)
		}
	}
	return all
}

// addEnvironment adds the references of a container's environment.
func addEnvironment(c *corev1.Container, add func(isVolume bool, kind, name, key string, optional *bool)) {
	for _, from := range c.EnvFrom {
		if from.SecretRef != nil {
			add(false, "secret", from.SecretRef.Name, "", from.SecretRef.Optional)
		}
		if from.ConfigMapRef != nil {
			add(false, "configmap", from.ConfigMapRef.Name, "", from.ConfigMapRef.Optional)
		}
	}
	for _, env := range c.Env {
		if env.ValueFrom == nil {
			continue
		}
		if ref := env.ValueFrom.SecretKeyRef; ref != nil {
			add(false, "secret", ref.Name, ref.Key, ref.Optional)
		}
		if ref := env.ValueFrom.ConfigMapKeyRef; ref != nil {
			add(false, "configmap", ref.Name, ref.Key, ref.Optional)
		}
	}
}

// waitingFor returns the state of the containers of a pod whose Secrets and ConfigMaps, or their keys, don't all exist; nil if they do.
func waitingFor(s *State, pod *corev1.Pod, references []reference) *corev1.ContainerStateWaiting {
	for _, ref := range references {
		message := missing(s, pod.Namespace, ref)
		switch {
		case message == "":
		case ref.isVolume:
			return &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}
		default:
			return &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: message}
		}
	}
	return nil
}

// missing returns what a reference lacks; empty if nothing.
func missing(s *State, namespace string, ref reference) string {
	key := types.NamespacedName{Namespace: namespace, Name: ref.name}
	var hasKey func(string) bool
	title := "Secret"
	if ref.kind == "secret" {
		for _, o := range All[*corev1.Secret](s) {
			if client.ObjectKeyFromObject(o) == key {
				hasKey = func(k string) bool { _, found := o.Data[k]; return found }
			}
		}
	} else {
		title = "ConfigMap"
		for _, o := range All[*corev1.ConfigMap](s) {
			if client.ObjectKeyFromObject(o) == key {
				hasKey = func(k string) bool {
					_, text := o.Data[k]
					_, binary := o.BinaryData[k]
					return text || binary
				}
			}
		}
	}
	switch {
	case hasKey == nil:
		return fmt.Sprintf("%s %q not found", ref.kind, ref.name)
	case ref.key != "" && !hasKey(ref.key):
		return fmt.Sprintf("couldn't find key %s in %s %s", ref.key, title, key)
	default:
		return ""
	}
}

// startPod starts a pod, or says what its containers wait for.
func startPod(s *State, pod *corev1.Pod) *Change {
	references := referencesOf(pod)
	waiting := waitingFor(s, pod, references)
	after := changed(pod, func(p *corev1.Pod) {
		p.Status.StartTime = new(metav1.NewTime(startTimeOf(pod)))
		if waiting == nil {
			start(s, p)
			return
		}
		p.Status.ContainerStatuses = nil
		for _, c := range p.Spec.Containers {
			p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, State: corev1.ContainerState{Waiting: waiting},
			})
		}
		setReady(s, p, false, "ContainersNotReady")
	})
	if waiting != nil && equality.Semantic.DeepEqual(pod.Status, after.Status) {
		return nil
	}
	return &Change{Verb: VerbUpdateStatus, Object: after, readsMore: len(references) > 0}
}
