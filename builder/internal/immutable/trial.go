package immutable

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/armature-dev/armature/store"
)

// TrialName returns the name of a trial. It is deterministic for an object and a digest, and valid for all kinds whose names are
// labels.
func TrialName(name, digest string) string {
	const limit = 63
	suffix := "-probe-" + digest[:8]
	return strings.TrimRight(name[:min(len(name), limit-len(suffix))], "-.") + suffix
}

var trialName = regexp.MustCompile(`-probe-[0-9a-f]{8}$`)

// IsTrialName reports whether a name is one of TrialName.
func IsTrialName(name string) bool { return trialName.MatchString(name) }

// WithoutHeld returns a trial without the unique values that found holds: a Service's addresses and node ports. It keeps a value that
// another Service holds, so that the trial fails as the creation would.
func WithoutHeld(trial, found client.Object) (client.Object, error) {
	if u, ok := trial.(*unstructured.Unstructured); ok {
		if u.GetAPIVersion() != "v1" || u.GetKind() != "Service" {
			return trial, nil
		}
		typed, held := &corev1.Service{}, &corev1.Service{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed); err != nil {
			return nil, err
		}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found.(runtime.Unstructured).UnstructuredContent(), held); err != nil {
			return nil, err
		}
		dropHeld(typed, held)
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
		return &unstructured.Unstructured{Object: fields}, err
	}
	if service, ok := trial.(*corev1.Service); ok {
		dropHeld(service, found.(*corev1.Service))
	}
	return trial, nil
}

func dropHeld(trial, held *corev1.Service) {
	isHeld := func(ip string) bool {
		return ip != corev1.ClusterIPNone && (ip == held.Spec.ClusterIP || slices.Contains(held.Spec.ClusterIPs, ip))
	}
	if isHeld(trial.Spec.ClusterIP) || slices.ContainsFunc(trial.Spec.ClusterIPs, isHeld) {
		trial.Spec.ClusterIP, trial.Spec.ClusterIPs = "", nil
	}
	if trial.Spec.HealthCheckNodePort == held.Spec.HealthCheckNodePort {
		trial.Spec.HealthCheckNodePort = 0
	}
	for i := range trial.Spec.Ports {
		port := &trial.Spec.Ports[i]
		if slices.ContainsFunc(held.Spec.Ports, func(h corev1.ServicePort) bool {
			return h.NodePort == port.NodePort && h.Protocol == cmp.Or(port.Protocol, corev1.ProtocolTCP)
		}) {
			port.NodePort = 0
		}
	}
}

// Unique returns a function that reports the fields that are unique to each object. fresh is a trial as the API server would create
// it. Such fields are a Service's addresses and node ports, and values that contain the object's name or UID.
func Unique(key store.Key, fresh client.Object) func(at fieldpath.Path, value any) bool {
	names := []string{fresh.GetName()}
	if uid := string(fresh.GetUID()); uid != "" {
		names = append(names, uid)
	}
	return func(at fieldpath.Path, value any) bool {
		if key.Group == "" && key.Kind == "Service" && value != nil {
			last := at[len(at)-1].FieldName
			return last != nil && slices.Contains([]string{"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"}, *last)
		}
		return holdsOneOf(value, names)
	}
}

func holdsOneOf(value any, texts []string) bool {
	switch v := value.(type) {
	case string:
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(v, text) })
	case map[string]any:
		for _, in := range v {
			if holdsOneOf(in, texts) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(in any) bool { return holdsOneOf(in, texts) })
	}
	return false
}
