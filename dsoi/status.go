package dsoi

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/readiness"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// nodeState is how far a node is.
type nodeState struct {
	state          v1beta1.NodeTypeState
	revision       string
	ready, desired int32
	why            string        // it has failed
	misses         *builder.Edit // that gives it the replicas that are described, if it has others
}

// stateOf says how far a node is.
func stateOf(n *renderedNode, now *observed, health ailment) nodeState {
	s := nodeState{state: v1beta1.NodeTypePending, desired: ptr.Deref(n.node.Replicas, 1)}
	if n.node.Kind == daemonSet {
		s.desired = 0 // it is known once there is one
	}
	workload := now.workload(n)
	switch w := workload.(type) {
	case nil:
		return s
	case *appsv1.StatefulSet:
		s.desired, s.ready = ptr.Deref(w.Spec.Replicas, 1), w.Status.ReadyReplicas
	case *appsv1.Deployment:
		s.desired, s.ready = ptr.Deref(w.Spec.Replicas, 1), w.Status.ReadyReplicas
	case *appsv1.DaemonSet:
		s.desired, s.ready = w.Status.DesiredNumberScheduled, w.Status.NumberReady
	}
	if wanted, has := replicas(n, now); wanted != has {
		s.desired, s.misses = wanted, resized(workload, wanted)
	}
	s.revision = templateOf(workload).Annotations[AnnotationRevision]
	ready := readiness.Of(workload).Ready
	switch {
	case health.Failed:
		s.state, s.why = v1beta1.NodeTypeFailed, health.Why
	case s.revision != n.revision:
		s.state = v1beta1.NodeTypePending
	case ready && !health.Unwell:
		s.state = v1beta1.NodeTypeReady
	default:
		s.state = v1beta1.NodeTypeProgressing
	}
	return s
}

// severity orders states: the worst of its nodes is that of a type.
var severity = map[v1beta1.NodeTypeState]int{
	v1beta1.NodeTypeReady: 0, v1beta1.NodeTypePending: 1, v1beta1.NodeTypeProgressing: 2, v1beta1.NodeTypeFailed: 3,
}

// typeStatuses puts the nodes of each type together, in the order of deployment.
func typeStatuses(r *rendered, states []nodeState) (statuses []v1beta1.NodeTypeStatus, why map[string]string) {
	why = map[string]string{}
	index := make(map[string]int, len(r.order))
	statuses = make([]v1beta1.NodeTypeStatus, len(r.order))
	revisions := make([][]string, len(r.order))
	for i, name := range r.order {
		index[name] = i
		statuses[i] = v1beta1.NodeTypeStatus{Name: name, State: v1beta1.NodeTypeReady}
	}
	for i, n := range r.nodes {
		at := index[n.node.NodeType]
		t, s := &statuses[at], &states[i]
		t.Ready += s.ready
		t.Desired += s.desired
		revisions[at] = append(revisions[at], s.revision)
		if severity[s.state] > severity[t.State] {
			t.State, why[t.Name] = s.state, s.why
		}
	}
	for i := range statuses {
		statuses[i].Revision = joinedRevision(revisions[i])
	}
	return statuses, why
}

// joinedRevision identifies the revisions of several nodes: that of one alone, or a hash. It is empty as long as a node
// has none.
func joinedRevision(of []string) string {
	if len(of) == 1 {
		return of[0]
	}
	if slices.Contains(of, "") {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(of, " ")))
	return hex.EncodeToString(sum[:5])
}

// report returns the cluster with the status that it should have, and what is new in it. The conditions are the
// builder's, and how far a roll-out is finish says.
func (a *App[C]) report(cluster C, r *rendered, states []nodeState) (C, []events.Event) {
	before := cluster.ClusterStatus()
	status := before.DeepCopy()
	status.ObservedGeneration = cluster.GetGeneration()
	var why map[string]string
	status.NodeTypes, why = typeStatuses(r, states)
	if equality.Semantic.DeepEqual(before, status) {
		return cluster, nil
	}
	return withStatus(cluster, status), transitions(before, status, why)
}

// finish tells how far the roll-out is after the pass, so that it agrees with the conditions. If the pass didn't get as
// far as that, it is as it was before.
func finish[C Cluster](view builder.View) func(C, builder.Result) {
	return func(after C, res builder.Result) {
		was, completed := view.Rollout()
		if !completed {
			was.State = rollout.Installing
		}
		is := was
		if res.Rollout != nil {
			is = *res.Rollout
			if is.Before = was.Before; is.From != was.From {
				is.Before = was.From // it is completed in this pass
			}
		}
		status := after.ClusterStatus()
		if res.Rollout != nil || status.Phase == "" || status.Phase == v1beta1.ClusterInvalid {
			status.Phase = phaseOf(is.State, slices.ContainsFunc(res.Pending, haltsRollout))
		}
		if res.Rollout != nil { // what ControllerRevisions say by themselves is no record
			status.Revision = is.From
		}
		status.Upgrade = lastUpgrade(status.Upgrade, is, view.Now)
	}
}

// withStatus returns a copy of a cluster with another status.
func withStatus[C Cluster](cluster C, status *v1beta1.ClusterStatus) C {
	after := cluster.DeepCopyObject().(C)
	*after.ClusterStatus() = *status
	return after
}

// haltsRollout reports whether a child stops the roll-out.
func haltsRollout(child builder.ChildStatus) bool { return child.Reason == events.ReasonRolloutHalted }

// phaseOf says how far the cluster is, in one word.
func phaseOf(state rollout.State, halted bool) v1beta1.ClusterPhase {
	switch {
	case state == rollout.Installing:
		return v1beta1.ClusterInstalling
	case state == rollout.RolledBack:
		return v1beta1.ClusterRolledBack
	case state == rollout.Completed:
		return v1beta1.ClusterRunning
	case halted:
		return v1beta1.ClusterHalted
	default:
		return v1beta1.ClusterUpgrading
	}
}

// lastUpgrade returns the later of an upgrade that was told of and the one that a roll-out is. One that was taken back in
// the spec before it was done is over.
func lastUpgrade(told *v1beta1.UpgradeStatus, is rollout.Status, now time.Time) *v1beta1.UpgradeStatus {
	if u := upgradeOf(is); u != nil && (told == nil || !u.StartedAt.Before(&told.StartedAt)) {
		return u
	}
	if told != nil && told.FinishedAt == nil && is.State == rollout.Completed {
		told = told.DeepCopy()
		finishUpgrade(told, now)
	}
	return told
}

// upgradeOf tells of the upgrade that a roll-out is; nil if it is none, but the first install.
func upgradeOf(r rollout.Status) *v1beta1.UpgradeStatus {
	if r.StartedAt.IsZero() {
		return nil
	}
	u := &v1beta1.UpgradeStatus{StartedAt: metav1.NewTime(r.StartedAt), FromRevision: r.From, ToRevision: r.To}
	if r.State == rollout.Completed {
		u.FromRevision = r.Before
	}
	if !r.FinishedAt.IsZero() {
		finishUpgrade(u, r.FinishedAt)
	}
	return u
}

func finishUpgrade(u *v1beta1.UpgradeStatus, at time.Time) {
	finished := metav1.NewTime(at).Rfc3339Copy()
	u.FinishedAt, u.Duration = &finished, finished.Sub(u.StartedAt.Time).String()
}
