package daemonjob

import (
	"fmt"
	"maps"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// roleTaints is how the keys of taints begin that say what a node is for, rather than how it is at the moment.
const roleTaints = "node-role.kubernetes.io/"

// rules say which nodes a job is for, and which of them can take a pod now: those of a DaemonSet, and exclusion.
type rules struct {
	excluded   map[string]bool
	unselected labels.Selector
	pod        *corev1.PodSpec
	affinity   nodeaffinity.RequiredNodeAffinity
}

// rulesOf reads the rules from a spec and from the pod that was rendered of it, and returns all that is wrong with it.
func rulesOf(job *v1alpha1.DaemonJob, pod *corev1.PodSpec) (*rules, field.ErrorList) {
	spec, path := &job.Spec, field.NewPath("spec")
	r := &rules{excluded: map[string]bool{}, unselected: labels.Nothing(), pod: pod}
	errs := podtemplate.ValidateGlobals(&spec.GlobalParams, path.Child("globalParams"))
	errs = append(errs, podtemplate.ValidateWith(&spec.GlobalParams, &spec.Template, path.Child("template"))...)
	for name := range strings.SplitSeq(spec.ExcludeNodeList, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		r.excluded[name] = true
		for _, detail := range validation.IsDNS1123Subdomain(name) {
			errs = append(errs, field.Invalid(path.Child("excludeNodeList"), name, "not the name of a node: "+detail))
		}
	}
	if spec.ExcludeNodeSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(spec.ExcludeNodeSelector)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("excludeNodeSelector"), metav1.FormatLabelSelector(spec.ExcludeNodeSelector), err.Error()))
		} else {
			r.unselected = selector
		}
	}
	errs = append(errs, checkShare(spec.Parallelism, path.Child("parallelism"))...)
	errs = append(errs, checkShare(spec.MaxFailures, path.Child("maxFailures"))...)
	r.affinity = nodeaffinity.NewRequiredNodeAffinity(pod.NodeSelector, pod.Affinity)
	errs = append(errs, checkAffinity(pod.Affinity, path.Child("template", "spec", "affinity", "nodeAffinity"))...)
	return r, errs
}

// checkAffinity finds what can't be matched against nodes.
func checkAffinity(affinity *corev1.Affinity, path *field.Path) field.ErrorList {
	if affinity == nil || affinity.NodeAffinity == nil || affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	path = path.Child("requiredDuringSchedulingIgnoredDuringExecution")
	if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return nil
}

// checkShare finds what is neither a number of nodes nor a percentage.
func checkShare(share *intstr.IntOrString, path *field.Path) field.ErrorList {
	if share == nil {
		return nil
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(share, 100, true)
	if err != nil || n < 1 || (share.Type == intstr.String && n > 100) {
		return field.ErrorList{field.Invalid(path, share.String(), "must be a number of nodes, at least 1, or a percentage from 1% to 100%")}
	}
	return nil
}

// scale returns how many of so many nodes a number or a percentage is, rounded up, and at least 1.
func scale(share *intstr.IntOrString, nodes int) int {
	n, _ := intstr.GetScaledValueFromIntOrPercent(share, nodes, true) // it was checked
	return max(1, n)
}

// meant reports whether the job is for a node. It isn't for one that is about to go.
func (r *rules) meant(node *corev1.Node) bool {
	if node.DeletionTimestamp != nil || r.excluded[node.Name] || r.unselected.Matches(labels.Set(node.Labels)) {
		return false
	}
	if r.pod.NodeName != "" && r.pod.NodeName != node.Name {
		return false
	}
	if fits, err := r.affinity.Match(node); err != nil || !fits {
		return false
	}
	_, otherwise := r.untolerated(node.Spec.Taints, isRole)
	return !otherwise
}

// obstacle says why a node that the job is for can't take a pod now. Empty: it can.
func (r *rules) obstacle(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		if _, cordoned := r.untolerated(cordon, keepsAway); cordoned {
			return "is cordoned"
		}
	}
	if taint, found := r.untolerated(node.Spec.Taints, keepsAway); found {
		return fmt.Sprintf("has the taint %s, which isn't tolerated", taint.ToString())
	}
	return ""
}

// untolerated returns the first of some taints that the pod doesn't tolerate.
func (r *rules) untolerated(taints []corev1.Taint, which func(*corev1.Taint) bool) (corev1.Taint, bool) {
	if len(taints) == 0 {
		return corev1.Taint{}, false
	}
	return scheduling.FindMatchingUntoleratedTaint(logr.Discard(), taints, r.pod.Tolerations, which, false)
}

// keepsAway reports whether a taint keeps pods from being scheduled. PreferNoSchedule doesn't.
func keepsAway(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

func isRole(taint *corev1.Taint) bool {
	return keepsAway(taint) && strings.HasPrefix(taint.Key, roleTaints)
}

// nodeChanged reports whether a node's change can matter to a job. A heartbeat doesn't.
func nodeChanged(b, a *corev1.Node) bool {
	return b == nil || a == nil || b.UID != a.UID || (b.DeletionTimestamp == nil) != (a.DeletionTimestamp == nil) ||
		b.Spec.Unschedulable != a.Spec.Unschedulable ||
		!maps.Equal(b.Labels, a.Labels) ||
		!equality.Semantic.DeepEqual(b.Spec.Taints, a.Spec.Taints)
}

// jobsOfNode returns all jobs if an event of a node can change a plan.
func jobsOfNode(before, after *corev1.Node) (all bool, _ []types.NamespacedName) {
	return nodeChanged(before, after), nil
}
