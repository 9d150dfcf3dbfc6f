package scaling

import (
	"fmt"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/text"
)

const (
	// atOnce is when the pass comes that carries out what this one decides.
	atOnce = 10 * time.Millisecond
	// carriedOutWithin is how long a decision may take to be carried out. If a pass fails, such as at a refused HorizontalPodAutoscaler, the
	// next one begins up to a minute later, and may ask sources for another minute.
	carriedOutWithin = 5 * time.Minute
)

// planner makes the plan of one object.
type planner struct {
	scaling     dsoi.Scaling
	spec        *v1beta1.ScalingSpec
	clusterKind schema.GroupKind
	view        builder.View
	external    *external
	now         metav1.Time
	was         map[string]v1beta1.NodeScalingStatus // by entry
	earlier     entryNames                           // the entries before the one that is decided on

	children []builder.Child
	edits    []builder.Edit
	told     []events.Event
	decided  bool // something that isn't carried out yet
}

// Plan says what to scale, given what was observed. It is a builder.PlanFunc.
func (c *Controller[S]) Plan(scaling S, view builder.View) builder.Plan[S] {
	external, ok := builder.External[*external](view)
	if !ok || scaling.GetDeletionTimestamp() != nil {
		return builder.Plan[S]{}
	}
	if external.busy {
		return builder.Plan[S]{RequeueAfter: busyDelay}
	}
	p := &planner{
		scaling: scaling, spec: scaling.ScalingSpec(), clusterKind: c.senses.clusterKind, view: view, external: external,
		now: metav1.NewTime(view.Now).Rfc3339Copy(), was: map[string]v1beta1.NodeScalingStatus{},
		earlier: newEntryNames(dsoi.ScaledCluster(scaling)),
	}
	for _, n := range scaling.ScalingStatus().Nodes {
		p.was[n.Name] = n
	}
	every, wrong := intervalOf(p.spec)
	status := p.decide(wrong)
	plan := builder.Plan[S]{
		Children: p.children, Edits: p.edits, Events: p.told, RequeueAfter: max(every-view.Now.Sub(external.at), atOnce),
		Prune: []client.Object{&autoscalingv2.HorizontalPodAutoscaler{}},
	}
	if p.decided {
		plan.RequeueAfter = atOnce
	}
	if !sameStatus(scaling.ScalingStatus(), status) {
		plan.Status = scaling.DeepCopyObject().(S)
		*plan.Status.ScalingStatus() = *status
	}
	return plan
}

// trouble is why an entry isn't in force.
type trouble struct{ reason, message string }

func (t trouble) Error() string { return t.message }

func because(reason, format string, args ...any) error {
	return trouble{reason, fmt.Sprintf(format, args...)}
}

// decide goes through the entries and returns the status.
func (p *planner) decide(wrong error) *v1beta1.ScalingStatus {
	status := &v1beta1.ScalingStatus{ObservedGeneration: p.scaling.GetGeneration()}
	status.Conditions = append(status.Conditions, p.scaling.ScalingStatus().Conditions...)
	for i := range p.spec.Autoscaling {
		e := &p.spec.Autoscaling[i]
		status.Nodes = append(status.Nodes, p.decideEntry(e))
		p.earlier.add(e.Name)
	}
	p.setConditions(status, wrong)
	return status
}

// maxMessage bounds the message of an entry, in bytes.
const maxMessage = 256

func (p *planner) decideEntry(e *v1beta1.NodeScaling) v1beta1.NodeScalingStatus {
	was := p.was[e.Name]
	is := v1beta1.NodeScalingStatus{Name: e.Name, Value: was.Value, Replicas: was.Replicas, LastScaleTime: was.LastScaleTime}
	err := p.sameAsBefore(e)
	if err == nil {
		err = p.decidePods(e, &is)
		if storageErr := p.decideVolumes(e, was, &is); err == nil {
			err = storageErr
		}
	}
	if t, ok := err.(trouble); ok { //nolint:errorlint // they are never wrapped
		is.Reason, is.Message = t.reason, text.Shorten(t.message, maxMessage)
	}
	if is.Reason != was.Reason {
		p.tellTrouble(is, was)
	}
	return is
}

// sameAsBefore refuses an entry for a node that an earlier one is for, under its other name: they would pull it to and
// fro.
func (p *planner) sameAsBefore(e *v1beta1.NodeScaling) error {
	if same := p.earlier.of(e.Name); len(same) > 0 {
		return because(ReasonInvalidSpec, "%q is the same node; want one entry for it", same[0])
	}
	return nil
}

func isOn(s *v1beta1.ReplicaScaling) bool { return s != nil && ptr.Deref(s.Enable, true) }

// decidePods decides on the number of an entry's pods.
func (p *planner) decidePods(e *v1beta1.NodeScaling, is *v1beta1.NodeScalingStatus) error {
	if e.Spec == nil && len(e.Storage) == 0 {
		return because(ReasonInvalidSpec, "neither spec nor storage is given; want one of them")
	}
	if !isOn(e.Spec) {
		is.Value, is.Replicas, is.LastScaleTime = "", nil, nil
		return nil
	}
	rule, err := readReplicas(p.spec, e.Spec)
	if err != nil {
		return because(ReasonInvalidSpec, "%s", err)
	}
	if other := p.external.rivals[about{entry: e.Name}]; other != "" {
		is.Value, is.Replicas, is.LastScaleTime = "", nil, nil // the older one changes the number: a record would undo that when it is gone
		return because(ReasonConflict, "%s is older and scales this node already; take the entry out of one of them", other)
	}
	target, err := p.target(e.Name)
	if err != nil {
		return err
	}
	if rule.source.Resource != "" {
		return p.scaleByResource(e.Name, target, &rule, is)
	}
	read, ok := p.external.readings[about{entry: e.Name}]
	if !ok {
		return nil // the spec has changed since the sources were asked
	}
	if read.err != nil {
		decided := ptr.Deref(is.Replicas, replicasOf(target))
		if next := rule.clamp(decided); is.Replicas != nil || next != decided { // bounds hold also before the first decision
			p.follow(e.Name, target, next, boundsOf(&rule), is)
		}
		return because(ReasonSourceFailed, "%s", read.err)
	}
	is.Value = format(read.value)
	p.decideBy(e.Name, target, read.value, &rule, is)
	return nil
}

// scaleByResource leaves the number of pods to a HorizontalPodAutoscaler. That does nothing while there are none, so the first ones are
// started here, and the record of that ends as soon as there is one.
func (p *planner) scaleByResource(entry string, target client.Object, rule *replicaRule, is *v1beta1.NodeScalingStatus) error {
	is.Value = ""
	whose, taken := p.external.taken[target.GetName()]
	if taken || replicasOf(target) > 0 {
		is.Replicas, is.LastScaleTime = nil, nil
	}
	if taken {
		return because(ReasonConflict, "a HorizontalPodAutoscaler %s exists and isn't of this object (%s); delete it, or take the entry out",
			target.GetName(), whose)
	}
	p.children = append(p.children, builder.Want(autoscaler(p.scaling, target, rule)))
	if replicasOf(target) == 0 {
		p.follow(entry, target, rule.min, boundsOf(rule), is)
	}
	return nil
}

// decideBy decides on a number of pods by a number that was read, if it is time for that. Bounds hold at any time.
func (p *planner) decideBy(entry string, target client.Object, value float64, rule *replicaRule, is *v1beta1.NodeScalingStatus) {
	current := replicasOf(target)
	decided := ptr.Deref(is.Replicas, current)
	if is.Replicas != nil && current == decided && p.isLate(entry, current, is.LastScaleTime) {
		is.LastScaleTime = &p.now
	}
	next, why := rule.clamp(decided), boundsOf(rule)
	pods, ok := p.external.pods[entry]
	if ok && pods.replicas == current && p.isNew(is.LastScaleTime) { // the number of other pods would count twice
		byNumber := decideReplicas(current, value, rule)
		isDue := next != decided || p.hasCooledDown(is.LastScaleTime, rule.coolDown)
		if current != decided {
			isDue = byNumber != decided && p.isRefused(pods, is.LastScaleTime, rule.coolDown)
		}
		if isDue {
			is.Replicas = &current // a refused decision has changed nothing
			next, why = byNumber, fmt.Sprintf("the number is %s, the threshold %s", is.Value, format(rule.threshold))
		}
	}
	p.follow(entry, target, next, why, is)
}

// isLate reports whether a decision was carried out late: the former pods were there before it, and at a reading after it. Pods that
// someone else has made in between, and that were put back, don't count.
func (p *planner) isLate(entry string, current int32, decision *metav1.Time) bool {
	pods, ok := p.external.pods[entry]
	since, after := pods.formerSince, pods.changedAfter
	if pods.replicas != current {
		since, after = pods.from(), p.external.at
	}
	return ok && decision != nil && !after.IsZero() && !isAfter(since, decision) &&
		!after.After(p.view.Now) && isAfter(after, decision) // a clock that was set back must not repeat it
}

// isRefused reports whether a decision hasn't been carried out for so long that another one may replace it. The readings tell it from
// someone else's change, which was just made.
func (p *planner) isRefused(pods seenPods, change *metav1.Time, coolDown time.Duration) bool {
	return p.now.Sub(pods.since) >= carriedOutWithin && p.hasCooledDown(change, max(coolDown, carriedOutWithin))
}

func boundsOf(rule *replicaRule) string {
	return fmt.Sprintf("minReplica is %d, maxReplica %d", rule.min, rule.max)
}

// follow records a decision, or carries out the one that is on record.
func (p *planner) follow(entry string, target client.Object, next int32, why string, is *v1beta1.NodeScalingStatus) {
	current := replicasOf(target)
	decided := ptr.Deref(is.Replicas, current)
	switch {
	case next != decided:
		is.Replicas, is.LastScaleTime = &next, &p.now
		p.decided = true
		p.told = append(p.told, events.Normal(ReasonScaled,
			fmt.Sprintf("node %s: from %d to %d pods: %s", entry, decided, next, why)).About(target))
	case is.Replicas == nil:
		is.Replicas = &decided
	case current != decided:
		p.edits = append(p.edits, builder.Edit{Before: target, Replicas: &decided, Foreign: true})
	}
}

// isNew reports whether the numbers were read after a change. A number from before says nothing of its effect, and may be the one that
// led to it.
func (p *planner) isNew(change *metav1.Time) bool { return isAfter(p.external.at, change) }

// isAfter compares in whole seconds, as changes are recorded.
func isAfter(t time.Time, change *metav1.Time) bool {
	return change == nil || metav1.NewTime(t).Rfc3339Copy().After(change.Time)
}

// hasCooledDown reports whether a time has passed since a change.
func (p *planner) hasCooledDown(change *metav1.Time, after time.Duration) bool {
	return change == nil || !p.now.Time.Before(change.Add(after))
}

// target returns the workload that an entry names, if it is one of the cluster's.
func (p *planner) target(entry string) (client.Object, error) {
	if target := targetOf(p.scaling, p.clusterKind, p.view, entry); target != nil {
		return target, nil
	}
	return nil, because(ReasonTargetNotFound, "the %s %s has no StatefulSet or Deployment of the node %q",
		p.clusterKind.Kind, dsoi.ScaledCluster(p.scaling), entry)
}

// targetOf returns the workload that an entry names, if it is one of the cluster's; otherwise nil.
func targetOf(scaling dsoi.Scaling, clusterKind schema.GroupKind, view builder.View, entry string) client.Object {
	cluster := dsoi.ScaledCluster(scaling)
	for _, name := range workloadNames(scaling, entry) {
		if set, ok := builder.Lookup[*appsv1.StatefulSet](view, name); ok && isOf(cluster, clusterKind, set) {
			return set
		}
		if d, ok := builder.Lookup[*appsv1.Deployment](view, name); ok && isOf(cluster, clusterKind, d) {
			return d
		}
	}
	return nil
}

// isOf reports whether a cluster controls a workload: nothing else may be scaled.
func isOf(cluster string, clusterKind schema.GroupKind, workload client.Object) bool {
	ref := metav1.GetControllerOfNoCopy(workload)
	return ref != nil && schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind() == clusterKind &&
		ref.Name == cluster && workload.GetDeletionTimestamp() == nil
}

func replicasOf(workload client.Object) int32 {
	switch w := workload.(type) {
	case *appsv1.StatefulSet:
		return ptr.Deref(w.Spec.Replicas, 1)
	case *appsv1.Deployment:
		return ptr.Deref(w.Spec.Replicas, 1)
	default:
		return 0
	}
}

// format renders a number in few digits.
func format(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }
