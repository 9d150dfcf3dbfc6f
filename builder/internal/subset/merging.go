package subset

import (
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/armature-dev/armature/builder/internal/payload"
)

// merging is the way in which the API server merges two writers' values of a list or a map.
type merging struct {
	// key is the field that identifies the elements of a list, or setKey. Empty: the list is one value.
	key string
	// ordered is true if the order of a list's elements matters, although the list has keys.
	ordered bool
	// atomic is true if a map is one value. Other maps are merged by key.
	atomic bool
	// whole is true if lists and maps below are one value as well, so that no other writer can have added to them. Their structs may
	// still have defaults.
	whole bool
}

// inside returns the merging of a field inside a value that is one value.
func (m merging) inside(field merging) merging {
	if m.whole {
		return merging{atomic: true, whole: true}
	}
	return field
}

// setKey marks a list of scalars that the API server merges as a set.
const setKey = "*"

type fields map[string]merging

// untagged are the lists and maps that are merged in another way than their Go tags say, and those whose order matters. The API
// server's schema has their merging; a test compares this with it, for all stable kinds.
var untagged = map[reflect.Type]fields{
	reflect.TypeFor[corev1.PodSpec](): {
		"NodeSelector": {atomic: true}, "InitContainers": {key: "name", ordered: true},
	},
	reflect.TypeFor[corev1.Container]():                                 {"Env": {key: "name", ordered: true}},
	reflect.TypeFor[admissionv1.MutatingWebhookConfiguration]():         {"Webhooks": {key: "name", ordered: true}},
	reflect.TypeFor[corev1.ServiceSpec]():                               {"Selector": {atomic: true}},
	reflect.TypeFor[corev1.ReplicationControllerSpec]():                 {"Selector": {atomic: true}},
	reflect.TypeFor[corev1.ResourceRequirements]():                      {"Claims": {key: "name"}},
	reflect.TypeFor[corev1.VolumeMount]():                               {"BindMountOptions": {key: setKey}},
	reflect.TypeFor[corev1.ContainerRestartRuleOnExitCodes]():           {"Values": {key: setKey}},
	reflect.TypeFor[corev1.NodePodPreemptionPolicy]():                   {"DisableResizePreemption": {key: setKey}},
	reflect.TypeFor[resourcev1.ResourceSliceSpec]():                     {"SkipNodeOperations": {key: setKey}},
	reflect.TypeFor[batchv1.PodFailurePolicyOnExitCodesRequirement]():   {"Values": {key: setKey}},
	reflect.TypeFor[nodev1.Scheduling]():                                {"NodeSelector": {atomic: true}},
	reflect.TypeFor[storagev1.CSIDriverSpec]():                          {"VolumeLifecycleModes": {key: setKey}},
	reflect.TypeFor[discoveryv1.Endpoint]():                             {"Addresses": {key: setKey}},
	reflect.TypeFor[admissionv1.ValidatingAdmissionPolicyBindingSpec](): {"ValidationActions": {key: setKey}},
	reflect.TypeFor[flowcontrolv1.NonResourcePolicyRule](): {
		"NonResourceURLs": {key: setKey}, "Verbs": {key: setKey},
	},
	reflect.TypeFor[flowcontrolv1.ResourcePolicyRule](): {
		"APIGroups": {key: setKey}, "Namespaces": {key: setKey}, "Resources": {key: setKey}, "Verbs": {key: setKey},
	},
}

// mergingOf returns the merging of a field, mostly from Kubernetes' own field tags.
func mergingOf(t reflect.Type, field reflect.StructField) merging {
	if m, ok := untagged[t][field.Name]; ok {
		return m
	}
	if !strings.Contains(field.Tag.Get("patchStrategy"), "merge") {
		return merging{whole: field.Type.Kind() == reflect.Slice && payload.IsKubernetes(t)}
	}
	if key := field.Tag.Get("patchMergeKey"); key != "" {
		return merging{key: key}
	}
	return merging{key: setKey}
}
