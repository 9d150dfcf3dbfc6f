package rules

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Decode converts an object as the server does on arrival: a Secret's stringData becomes data, and a DaemonSet gets the annotation
// that has a field of a former version.
func Decode(obj client.Object) {
	switch o := obj.(type) {
	case *corev1.Secret:
		if len(o.StringData) > 0 && o.Data == nil {
			o.Data = map[string][]byte{}
		}
		for key, value := range o.StringData {
			o.Data[key] = []byte(value)
		}
		o.StringData = nil
	case *appsv1.DaemonSet:
		if o.Annotations[appsv1.DeprecatedTemplateGeneration] == "" {
			setAnnotation(o, appsv1.DeprecatedTemplateGeneration, "0")
		}
	}
}

// Admit changes a created object as the built-in admission plugins do.
func Admit(obj client.Object) {
	o, ok := obj.(*corev1.Pod)
	if !ok {
		return
	}
	if o.Spec.ServiceAccountName == "" {
		o.Spec.ServiceAccountName, o.Spec.DeprecatedServiceAccount = "default", "default"
	}
	if o.Spec.Priority == nil {
		o.Spec.Priority = ptr.To[int32](0)
	}
	if o.Spec.PreemptionPolicy == nil {
		o.Spec.PreemptionPolicy = ptr.To(corev1.PreemptLowerPriority)
	}
	for _, key := range []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable} {
		tolerate(&o.Spec, key)
	}
}

func tolerate(s *corev1.PodSpec, taint string) {
	for _, t := range s.Tolerations {
		if (t.Key == taint || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	s.Tolerations = append(s.Tolerations, corev1.Toleration{
		Key: taint, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300),
	})
}

// PrepareCreate sets the fields that the server generates at creation. The object has its name and UID; number is unique.
func PrepareCreate(obj client.Object, number int) {
	switch o := obj.(type) {
	case *batchv1.Job:
		if !ptr.Deref(o.Spec.ManualSelector, false) {
			jobSelector(o)
		}
	case *corev1.Service:
		clusterIP(&o.Spec, number)
	case *appsv1.DaemonSet:
		setAnnotation(o, appsv1.DeprecatedTemplateGeneration, "1")
	case *corev1.Pod:
		o.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&o.Spec)}
	case *corev1.PersistentVolumeClaim:
		o.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	}
}

// PrepareUpdate keeps generated fields that an update omits.
func PrepareUpdate(obj, old client.Object) {
	switch o := obj.(type) {
	case *corev1.Service:
		keepClusterIP(&o.Spec, &old.(*corev1.Service).Spec)
	case *appsv1.DaemonSet:
		before := old.(*appsv1.DaemonSet)
		generation := before.Annotations[appsv1.DeprecatedTemplateGeneration]
		if !same(o.Spec.Template, before.Spec.Template) {
			var n int
			_, _ = fmt.Sscan(generation, &n)
			generation = fmt.Sprint(n + 1)
		}
		setAnnotation(o, appsv1.DeprecatedTemplateGeneration, generation)
	}
}

func setAnnotation(o client.Object, key, value string) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// jobSelector makes a Job select its own Pods.
func jobSelector(o *batchv1.Job) {
	if o.Spec.Template.Labels == nil {
		o.Spec.Template.Labels = map[string]string{}
	}
	for label, value := range map[string]string{
		"job-name": o.Name, batchv1.JobNameLabel: o.Name,
		"controller-uid": string(o.UID), batchv1.ControllerUidLabel: string(o.UID),
	} {
		if _, ok := o.Spec.Template.Labels[label]; !ok {
			o.Spec.Template.Labels[label] = value
		}
	}
	if o.Spec.Selector == nil {
		o.Spec.Selector = &metav1.LabelSelector{}
	}
	if o.Spec.Selector.MatchLabels == nil {
		o.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, ok := o.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		o.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(o.UID)
	}
}

func clusterIP(s *corev1.ServiceSpec, number int) {
	if s.Type == corev1.ServiceTypeExternalName {
		return
	}
	if s.ClusterIP == "" && len(s.ClusterIPs) == 0 {
		s.ClusterIP = fmt.Sprintf("10.96.%d.%d", number/250%250, 1+number%250)
	}
	if s.ClusterIP == "" {
		s.ClusterIP = s.ClusterIPs[0]
	}
	if len(s.ClusterIPs) == 0 {
		s.ClusterIPs = []string{s.ClusterIP}
	}
	if s.IPFamilyPolicy == nil {
		s.IPFamilyPolicy = ptr.To(corev1.IPFamilyPolicySingleStack)
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol}
	}
	if s.Type == corev1.ServiceTypeNodePort || s.Type == corev1.ServiceTypeLoadBalancer {
		for i := range s.Ports {
			if s.Ports[i].NodePort == 0 {
				s.Ports[i].NodePort = int32(30000 + (number*8+i)%2768)
			}
		}
	}
}

// keepClusterIP keeps the address and the node ports that an update omits.
func keepClusterIP(s, old *corev1.ServiceSpec) {
	if s.Type == corev1.ServiceTypeExternalName || old.Type == corev1.ServiceTypeExternalName {
		return
	}
	switch {
	case s.ClusterIP == "" && len(s.ClusterIPs) == 0:
		s.ClusterIP, s.ClusterIPs = old.ClusterIP, old.ClusterIPs
	case s.ClusterIP != old.ClusterIP && same(s.ClusterIPs, old.ClusterIPs):
		if s.ClusterIP == "" {
			s.ClusterIPs = nil
		} else {
			s.ClusterIPs = append([]string{s.ClusterIP}, old.ClusterIPs[min(1, len(old.ClusterIPs)):]...)
		}
	case len(s.ClusterIPs) == 0:
		s.ClusterIPs = []string{s.ClusterIP}
	}
	if s.IPFamilyPolicy == nil {
		s.IPFamilyPolicy = old.IPFamilyPolicy
	}
	if len(s.IPFamilies) == 0 {
		s.IPFamilies = old.IPFamilies
	}
	if s.Type == old.Type {
		for i := range s.Ports {
			for _, p := range old.Ports {
				if s.Ports[i].NodePort == 0 && p.Port == s.Ports[i].Port && p.Protocol == s.Ports[i].Protocol {
					s.Ports[i].NodePort = p.NodePort
				}
			}
		}
	}
}

// qosClass returns the class that follows from the containers' limits and requests.
func qosClass(s *corev1.PodSpec) corev1.PodQOSClass {
	best, guaranteed := true, true
	for _, c := range append(append([]corev1.Container(nil), s.InitContainers...), s.Containers...) {
		if len(c.Resources.Limits)+len(c.Resources.Requests) > 0 {
			best = false
		}
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := c.Resources.Limits[name]
			request, requested := c.Resources.Requests[name]
			if !limited || (requested && request.Cmp(limit) != 0) {
				guaranteed = false
			}
		}
	}
	switch {
	case best:
		return corev1.PodQOSBestEffort
	case guaranteed:
		return corev1.PodQOSGuaranteed
	default:
		return corev1.PodQOSBurstable
	}
}
