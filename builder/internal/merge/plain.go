package merge

import (
	"reflect"
	"slices"
	"strings"
)

// plainDefaults are values that the API server sets in fields of Kubernetes' own kinds, independent of the rest of the object, by the
// fields' names. A change of other fields doesn't make them stale, so the builder needs no dry run for them. It makes one for other
// values.
var plainDefaults = map[string][]any{
	"allocateLoadBalancerNodePorts": {true},
	"allowVolumeExpansion":          {false},
	"apiVersion":                    {"v1"},
	"backoffLimit":                  {int64(6)},
	"completionMode":                {"NonIndexed"},
	"concurrencyPolicy":             {"Allow"},
	"defaultMode":                   {int64(420)},
	"dnsPolicy":                     {"ClusterFirst"},
	"enableServiceLinks":            {true},
	"failedJobsHistoryLimit":        {int64(1)},
	"failureThreshold":              {int64(3)},
	"internalTrafficPolicy":         {"Cluster"},
	"ipFamilies":                    {[]any{"IPv4"}, []any{"IPv6"}},
	"ipFamilyPolicy":                {"SingleStack"},
	"periodSeconds":                 {int64(10)},
	"podManagementPolicy":           {"OrderedReady"},
	"podReplacementPolicy":          {"TerminatingOrFailed"},
	"progressDeadlineSeconds":       {int64(600)},
	"protocol":                      {"TCP"},
	"resources":                     {map[string]any{}},
	"restartPolicy":                 {"Always"},
	"revisionHistoryLimit":          {int64(10)},
	"schedulerName":                 {"default-scheduler"},
	"scheme":                        {"HTTP"},
	"securityContext":               {map[string]any{}},
	"sessionAffinity":               {"None"},
	"successThreshold":              {int64(1)},
	"successfulJobsHistoryLimit":    {int64(3)},
	"suspend":                       {false},
	"terminationGracePeriodSeconds": {int64(30)},
	"terminationMessagePath":        {"/dev/termination-log"},
	"terminationMessagePolicy":      {"File"},
	"timeoutSeconds":                {int64(1)},
	"volumeMode":                    {"Filesystem"},
	"strategy": {map[string]any{
		"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"},
	}},
	"updateStrategy": {
		map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"partition": int64(0)}},
		map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": int64(0), "maxUnavailable": int64(1)}},
	},
	"persistentVolumeClaimRetentionPolicy": {map[string]any{"whenDeleted": "Retain", "whenScaled": "Retain"}},
}

// IsPlain reports whether an unmanaged value is known to be the same in a new object. beside is the desired struct that has the field.
func IsPlain(name string, value any, beside map[string]any) bool {
	switch name {
	case "imagePullPolicy":
		image, _ := beside["image"].(string)
		return value == pullPolicyOf(image)
	case "targetPort":
		return reflect.DeepEqual(value, beside["port"])
	case "replicas", "clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort":
		return true // chosen for this object, for example by an autoscaler
	}
	return slices.ContainsFunc(plainDefaults[name], func(known any) bool { return reflect.DeepEqual(known, value) })
}

// pullPolicyOf returns the default pull policy of an image.
func pullPolicyOf(image string) string {
	name, _, digested := strings.Cut(image, "@")
	_, tag, tagged := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	if !digested && (!tagged || tag == "latest") {
		return "Always"
	}
	return "IfNotPresent"
}
