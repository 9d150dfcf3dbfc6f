package daemonjob

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/podtemplate"
)

// roleTaints is the prefix of the keys of taints that say what a node is for, and not how it is at the moment.
const roleTaints = "node-role.kubernetes.io/"

// eligibility says which nodes a job is for, by the rules of a DaemonSet and the job's exclusions, and which of them can take a
// pod now.
type eligibility struct {
	excluded   map[string]bool
	unselected labels.Selector
	pod        *corev1.PodSpec
	affinity   nodeaffinity.RequiredNodeAffinity
	none       bool // the spec is too large: no node matches
}

// These constants bound what each node is compared with: a pass takes time by nodes times these.
const (
	maxTerms  = 1000 // tolerations, terms and requirements
	maxValues = 5000 // of requirements
)

// eligibleNodes returns the eligibility that a spec and the pod rendered from it define, and all errors of the spec.
func eligibleNodes(job *v1alpha1.DaemonJob, pod *corev1.PodSpec) (*eligibility, field.ErrorList) {
	spec, path := &job.Spec, field.NewPath("spec")
	e := &eligibility{excluded: map[string]bool{}, unselected: labels.Nothing(), pod: pod}
	errs := podtemplate.ValidateGlobals(&spec.GlobalParams, path.Child("globalParams"))
	errs = append(errs, podtemplate.ValidateWith(&spec.GlobalParams, &spec.Template, path.Child("template"))...)
	for name := range strings.SplitSeq(spec.ExcludeNodeList, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		e.excluded[name] = true
		for _, detail := range validation.IsDNS1123Subdomain(name) {
			errs = append(errs, field.Invalid(path.Child("excludeNodeList"), name, "not the name of a node: "+detail))
		}
	}
	if err := checkSize(pod, spec.ExcludeNodeSelector, path.Child("template", "spec")); err != nil {
		e.none = true
		return e, append(errs, err)
	}
	if spec.ExcludeNodeSelector != nil {
		selector, err := metav1.LabelSelectorAsSelector(spec.ExcludeNodeSelector)
		if err != nil {
			errs = append(errs, field.Invalid(path.Child("excludeNodeSelector"), metav1.FormatLabelSelector(spec.ExcludeNodeSelector), err.Error()))
		} else {
			e.unselected = selector
		}
	}
	errs = append(errs, validateShare(spec.Parallelism, path.Child("parallelism"))...)
	errs = append(errs, validateShare(spec.MaxFailures, path.Child("maxFailures"))...)
	e.affinity = nodeaffinity.NewRequiredNodeAffinity(pod.NodeSelector, pod.Affinity)
	errs = append(errs, validateAffinity(pod.Affinity, path.Child("template", "spec", "affinity", "nodeAffinity"))...)
	return e, errs
}

// checkSize returns an error if each node would be compared with too much.
func checkSize(pod *corev1.PodSpec, excluded *metav1.LabelSelector, path *field.Path) *field.Error {
	terms, values := len(pod.Tolerations)+len(pod.NodeSelector), 0
	if excluded != nil {
		terms += len(excluded.MatchLabels) + len(excluded.MatchExpressions)
		for i := range excluded.MatchExpressions {
			values += len(excluded.MatchExpressions[i].Values)
		}
	}
	if required := requiredNodes(pod.Affinity); required != nil {
		for i := range required.NodeSelectorTerms {
			term := &required.NodeSelectorTerms[i]
			terms += 1 + len(term.MatchExpressions) + len(term.MatchFields)
			for _, requirements := range [][]corev1.NodeSelectorRequirement{term.MatchExpressions, term.MatchFields} {
				for j := range requirements {
					values += len(requirements[j].Values)
				}
			}
		}
	}
	switch {
	case terms > maxTerms:
		return field.Forbidden(path, fmt.Sprintf(
			"nodes are matched with %d tolerations, terms and requirements, also of excludeNodeSelector, more than %d", terms, maxTerms))
	case values > maxValues:
		return field.Forbidden(path, fmt.Sprintf(
			"nodes are matched with %d values of requirements, also of excludeNodeSelector, more than %d", values, maxValues))
	}
	return nil
}

// requiredNodes returns the required node affinity, or nil.
func requiredNodes(affinity *corev1.Affinity) *corev1.NodeSelector {
	if affinity == nil || affinity.NodeAffinity == nil {
		return nil
	}
	return affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

// validateAffinity returns an error if the required node affinity can't be matched against nodes.
func validateAffinity(affinity *corev1.Affinity, path *field.Path) field.ErrorList {
	required := requiredNodes(affinity)
	if required == nil {
		return nil
	}
	path = path.Child("requiredDuringSchedulingIgnoredDuringExecution")
	if _, err := nodeaffinity.NewNodeSelector(required); err != nil {
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, err.Error())}
	}
	return nil
}

// matches reports whether the job is for a node. It is for no node that is being deleted.
func (e *eligibility) matches(node *corev1.Node) bool {
	if e.none || node.DeletionTimestamp != nil || e.excluded[node.Name] || e.unselected.Matches(labels.Set(node.Labels)) {
		return false
	}
	if e.pod.NodeName != "" && e.pod.NodeName != node.Name {
		return false
	}
	if fits, err := e.affinity.Match(node); err != nil || !fits {
		return false
	}
	_, hasRole := e.untolerated(node.Spec.Taints, isRole)
	return !hasRole
}

// blocker returns why a node that matches can't take a pod now; empty if it can.
func (e *eligibility) blocker(node *corev1.Node) string {
	if node.Spec.Unschedulable {
		cordon := []corev1.Taint{{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule}}
		if _, cordoned := e.untolerated(cordon, keepsAway); cordoned {
			return "is cordoned"
		}
	}
	if taint, found := e.untolerated(node.Spec.Taints, keepsAway); found {
		return fmt.Sprintf("has the taint %s, which isn't tolerated", taint.ToString())
	}
	return ""
}

// blockedSince returns since when a node that can't take a pod can't: the time of the oldest taint that keeps the pod away; the zero time
// if a user has set it, because then it has none. The control plane adds the taint of a cordon a moment later: until then it's now.
func (e *eligibility) blockedSince(node *corev1.Node, now metav1.Time) metav1.Time {
	since := now
	taints := node.Spec.Taints
	for {
		taint, found := e.untolerated(taints, keepsAway)
		switch {
		case !found:
			return since
		case taint.TimeAdded == nil:
			return metav1.Time{}
		case taint.TimeAdded.Before(&since):
			since = *taint.TimeAdded
		}
		taints = slices.DeleteFunc(slices.Clone(taints), func(t corev1.Taint) bool { return t.MatchTaint(&taint) })
	}
}

// untolerated returns the first of the taints that which accepts and the pod doesn't tolerate.
func (e *eligibility) untolerated(taints []corev1.Taint, which func(*corev1.Taint) bool) (corev1.Taint, bool) {
	if len(taints) == 0 {
		return corev1.Taint{}, false
	}
	return scheduling.FindMatchingUntoleratedTaint(logr.Discard(), taints, e.pod.Tolerations, which, false)
}

// keepsAway reports whether a taint keeps pods from being scheduled. PreferNoSchedule doesn't.
func keepsAway(taint *corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

func isRole(taint *corev1.Taint) bool {
	return keepsAway(taint) && strings.HasPrefix(taint.Key, roleTaints)
}

// nodeChanged reports whether a change of a node can change a plan. A heartbeat can't. b is nil for a new node, a for a deleted one.
func nodeChanged(b, a *corev1.Node) bool {
	return b == nil || a == nil || b.UID != a.UID || (b.DeletionTimestamp == nil) != (a.DeletionTimestamp == nil) ||
		b.Spec.Unschedulable != a.Spec.Unschedulable ||
		!maps.Equal(b.Labels, a.Labels) ||
		!equality.Semantic.DeepEqual(b.Spec.Taints, a.Spec.Taints)
}

// jobsOfNode returns all DaemonJobs if an event of a node can change a plan: the function of the operator's watch of nodes.
func jobsOfNode(before, after *corev1.Node) (all bool, _ []types.NamespacedName) {
	return nodeChanged(before, after), nil
}
