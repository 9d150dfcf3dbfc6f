package replicajob

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// What the pods of a job carry, and what its Services and disruption budget find them by.
const (
	// LabelOperator is the label for the kind's name (see [Kind]), which keeps jobs of one name and two kinds apart.
	LabelOperator = "api.practice.com/operator-name"
	// LabelJob is the label for the job's name.
	LabelJob = "api.practice.com/job-name"
	// LabelType is the label for the replica's type, in lower case.
	LabelType = "api.practice.com/replica-type"
	// LabelIndex is the label for the replica's index within its type.
	LabelIndex = "api.practice.com/replica-index"
	// LabelRole is the label of the role: RoleMaster for leading replicas, RoleWorker for the others.
	LabelRole = "api.practice.com/job-role"
	// LabelRestartAttempt is the label for how often the whole job had been restarted when the pod was made.
	LabelRestartAttempt = "api.practice.com/restart-attempt"
	// LabelRestarts is the label for how often the replica had been restarted when the pod was made.
	LabelRestarts = "api.practice.com/restarts"
)

// Values of LabelRole.
const (
	// RoleMaster is the role of the leading type's replicas, or of Worker 0 in a job without one.
	RoleMaster = "master"
	// RoleWorker is the role of all others.
	RoleWorker = "worker"
)

// PodName returns the name of a replica's pod, <job>-<type in lower case>-<index>, which is also its host name and, if
// there is one, the name of its Service. Kubeflow called it GenGeneralName.
func PodName(job string, kind v1alpha1.ReplicaType, index int) string {
	return podPrefix(job, kind) + strconv.Itoa(index)
}

func podPrefix(job string, kind v1alpha1.ReplicaType) string {
	return job + "-" + lower(kind) + "-"
}

func lower(kind v1alpha1.ReplicaType) string { return strings.ToLower(string(kind)) }

// indexOf splits a pod's name before its index. It is false for names that PodName doesn't make.
func indexOf(name string) (prefix string, index int, ok bool) {
	cut := strings.LastIndexByte(name, '-') + 1
	digits := name[cut:]
	if digits == "" || digits[0] == '+' || digits[0] == '0' && len(digits) > 1 {
		return "", 0, false
	}
	index, err := strconv.Atoi(digits)
	return name[:cut], index, err == nil
}

// ServiceName returns the name of the headless Service that all pods of a job are reached through.
func ServiceName(job string) string { return job }

// selector finds the job's pods.
func (p *pass) selector() labels.Set { return labels.Set{LabelOperator: p.operator, LabelJob: p.name} }

// selectorOfType finds the pods of one type.
func (p *pass) selectorOfType(g *group) labels.Set {
	s := p.selector()
	s[LabelType] = lower(g.name)
	return s
}
