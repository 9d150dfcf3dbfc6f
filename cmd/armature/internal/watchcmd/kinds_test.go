package watchcmd

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: "default", Generation: 1, CreationTimestamp: *at(0)}
}

func because(kind, status, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}}
}

// TestKinds: what is drawn of each kind, and whether it is over.
func TestKinds(t *testing.T) {
	daemons := v1alpha1.DaemonJobStatus{
		State: v1alpha1.StateRunning, ObservedGeneration: 1, StartTime: at(0), Desired: 8, Active: 2, Succeeded: 3, Failed: 1, Waiting: 1,
		Failures: []v1alpha1.NodeFailure{{Node: "n1", Job: "dj-n1", Message: "BackoffLimitExceeded"}},
	}
	replicas := v1alpha1.ReplicaJobSpec{ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{
		"Master": {}, "Worker": {Replicas: new(int32(3))},
	}}
	for name, tt := range map[string]struct {
		obj          client.Object
		want         []string // lines of the table but for the bar
		over, failed bool
	}{
		"daemons": {obj: &v1alpha1.DaemonJob{ObjectMeta: named("dj"), Status: daemons}, want: []string{
			"daemonjob/dj  Running  3/8, 1 failed  5s",
			"  NODE         STATE     START    TIME",
			"● all nodes    Running                  3 succeeded, 2 active, 1 failed, 1 wait…",
			"✘ n1           Failed                   BackoffLimitExceeded",
		}},
		"daemons nobody has seen": {obj: &v1alpha1.DaemonJob{ObjectMeta: named("dj")}, want: []string{
			"daemonjob/dj  Pending  0/0  0s",
			"  NODE         STATE     START    TIME",
			"○ all nodes    Pending",
		}},
		"paused": {obj: &v1alpha1.DaemonJob{ObjectMeta: named("dj"), Status: v1alpha1.DaemonJobStatus{
			State: v1alpha1.StateRunning, Conditions: append(because(events.ConditionReady, "False", v1alpha1.ReasonRunning, "1 of 2"),
				because(events.ConditionPaused, "True", events.ReasonPausedByAnnotation, "by an annotation")...),
		}}, want: []string{
			"daemonjob/dj  Running  0/0  0s",
			"  PausedByAnnotation: by an annotation",
			"  NODE         STATE     START    TIME",
			"○ all nodes    Pending",
		}},
		"waits for its turn": {obj: &v1alpha1.DaemonJob{ObjectMeta: named("dj"), Status: v1alpha1.DaemonJobStatus{
			State: v1alpha1.StateRunning, Conditions: because(events.ConditionReleased, "False", events.ReasonWaitingForTurn, "1f: restarts pods"),
		}}, want: []string{
			"daemonjob/dj  Running  0/0  0s",
			"  WaitingForTurn: 1f: restarts pods",
			"  NODE         STATE     START    TIME",
			"○ all nodes    Pending",
		}},
		"replicas": {obj: &v1alpha1.ReplicaJob{ObjectMeta: named("rj"), Spec: replicas, Status: v1alpha1.ReplicaJobStatus{
			State: v1alpha1.ReplicaJobRunning, ObservedGeneration: 1, StartTime: at(0),
			ReplicaStatuses: map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus{"Master": {Active: 1}, "Worker": {Pending: 1, Succeeded: 2, Restarts: 1}},
		}}, want: []string{
			"replicajob/rj  Running  2/4  5s",
			"  REPLICAS     STATE     START    TIME",
			"● Master x1    Running                  1 active",
			"○ Worker x3    Pending                  2 succeeded, 1 pending, 1 restarted",
		}},
		"replicas at the end": {obj: &v1alpha1.ReplicaJob{ObjectMeta: named("rj"), Spec: replicas, Status: v1alpha1.ReplicaJobStatus{
			State: v1alpha1.ReplicaJobSucceeded, ObservedGeneration: 1, StartTime: at(0), CompletionTime: at(3),
			ReplicaStatuses: map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus{"Master": {Succeeded: 1}},
		}}, over: true, want: []string{
			"replicajob/rj  Succeeded  1/4, 3 skipped  3s",
			"  REPLICAS     STATE     START    TIME",
			"✔ Master x1    Succeed                  1 succeeded",
			"- Worker x3    Skipped                  3 stopped",
		}},
		"replicas that others' end has stopped": {obj: &v1alpha1.ReplicaJob{ObjectMeta: named("rj"), Spec: replicas, Status: v1alpha1.ReplicaJobStatus{
			State: v1alpha1.ReplicaJobFailed, ObservedGeneration: 1, StartTime: at(0), CompletionTime: at(3),
			ReplicaStatuses: map[v1alpha1.ReplicaType]v1alpha1.ReplicaStatus{"Master": {Failed: 1}, "Worker": {Active: 2, Pending: 1}},
		}}, over: true, failed: true, want: []string{
			"replicajob/rj  Failed  0/4, 1 failed, 3 skipped  3s",
			"  REPLICAS     STATE     START    TIME",
			"✘ Master x1    Failed                   1 failed",
			"- Worker x3    Skipped                  3 stopped",
		}},
		"daemons that have paused": {obj: &v1alpha1.DaemonJob{ObjectMeta: named("dj"), Status: v1alpha1.DaemonJobStatus{
			State: v1alpha1.StatePaused, ObservedGeneration: 1, StartTime: at(0), Desired: 3, Failed: 1, Paused: true,
			Conditions: because(events.ConditionReady, "False", v1alpha1.ReasonPaused, "1 failed"),
		}}, want: []string{
			"daemonjob/dj  Paused  0/3, 1 failed  5s",
			"  Paused: 1 failed",
			"  NODE         STATE     START    TIME",
			"● all nodes    Running                  1 failed, 2 to come",
		}},
		"replicas that can't be": {obj: &v1alpha1.ReplicaJob{ObjectMeta: named("rj"), Status: v1alpha1.ReplicaJobStatus{
			State: v1alpha1.ReplicaJobCreated, ObservedGeneration: 1,
			Conditions: append(because(events.ConditionStalled, "True", "InvalidSpec", "spec.x"), because(events.ConditionReady, "False", "InvalidSpec", "spec.x")...),
		}}, over: true, failed: true, want: []string{
			"replicajob/rj  Created  0/0  0s",
			"  InvalidSpec: spec.x",
			"  REPLICAS    STATE     START    TIME",
		}},
		"a cluster": {obj: &v1alpha1.MiniCluster{ObjectMeta: named("mc"), Status: v1alpha1.MiniClusterStatus{
			State: v1alpha1.MiniClusterStateStarting, ObservedGeneration: 1, StartTime: at(0), Size: 4, StartSize: 4, ReadyPods: 1, Restarts: 2,
			Leader: &v1alpha1.MiniClusterLeader{Pod: "mc-0-abcde"},
		}}, want: []string{
			"minicluster/mc  Starting  0/4  5s",
			"  POD           STATE     START    TIME",
			"● mc-0-abcde    Running                  1 of 4 pods ready, 2 restarts",
		}},
		"a cluster that failed": {obj: &v1alpha1.MiniCluster{ObjectMeta: named("mc"), Status: v1alpha1.MiniClusterStatus{
			State: v1alpha1.MiniClusterStateFailed, ObservedGeneration: 1, StartTime: at(0), CompletionTime: at(2), StartSize: 4, LastFailure: "exit code 3",
		}}, over: true, failed: true, want: []string{
			"minicluster/mc  Failed  0/4, 1 failed  2s",
			"  POD       STATE     START    TIME",
			"✘ leader    Failed                   exit code 3",
		}},
		"a job that waits": {obj: &v1alpha1.FluxJob{ObjectMeta: named("fj"), Status: v1alpha1.FluxJobStatus{
			State: v1alpha1.FluxJobWaiting, ObservedGeneration: 1, Queue: "q", Position: new(int32(2)),
			Conditions: because(events.ConditionReady, "False", "WaitingForQuota", "it needs more"),
		}}, want: []string{
			"fluxjob/fj  Waiting  0/2  5s",
			"  WaitingForQuota: it needs more",
			"  STEP  OF  STATE     START    TIME",
			"● wait  q   Running     +0s      5s  at position 2",
			"○ run       Pending",
		}},
		"a job that failed": {obj: &v1alpha1.FluxJob{ObjectMeta: named("fj"), Status: v1alpha1.FluxJobStatus{
			State: v1alpha1.FluxJobFailed, ObservedGeneration: 1, Queue: "q", MiniCluster: "fj", StartTime: at(2), CompletionTime: at(4), ExitCode: new(int32(5)),
		}}, over: true, failed: true, want: []string{
			"fluxjob/fj  Failed  1/2, 1 failed  4s",
			"  STEP  OF  STATE     START    TIME",
			"✔ wait  q   Succeed     +0s      2s  " + strings.Repeat("━", 20),
			"✘ run   fj  Failed      +2s      2s  exit code 5",
		}},
		"a job that ended in the line": {obj: &v1alpha1.FluxJob{ObjectMeta: named("fj"), Status: v1alpha1.FluxJobStatus{
			State: v1alpha1.FluxJobFailed, ObservedGeneration: 1, Queue: "q", CompletionTime: at(4),
		}}, over: true, failed: true, want: []string{
			"fluxjob/fj  Failed  0/2, 1 failed, 1 skipped  4s",
			"  STEP  OF  STATE     START    TIME",
			"✘ wait  q   Failed      +0s      4s  " + strings.Repeat("━", 40),
			"- run       Skipped",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			gvk := v1alpha1.GroupVersion.WithKind(reflect.TypeOf(tt.obj).Elem().Name())
			k, err := find(gvk)
			require.NoError(t, err)
			p := k.picture(tt.obj, at(5).Time)
			assert.Equal(t, tt.over, p.over)
			assert.Equal(t, tt.failed, p.failed)
			got := strings.Split(strings.TrimSpace(table(p, nil, layout{width: 80, height: 24})), "\n")
			got = append(got[:1], got[2:]...) // without the bar
			assert.Equal(t, tt.want, got)

			var out bytes.Buffer
			l := &lines{out: &out}
			l.show(p, nil)
			told := out.Len()
			l.show(p, nil)
			assert.Equal(t, told, out.Len(), "nothing is told twice")
		})
	}
}

func TestWhatCannotBeWatched(t *testing.T) {
	_, err := find(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	assert.EqualError(t, err, "a ConfigMap can't be watched; supported kinds: JobFlow, DaemonJob, ReplicaJob, MiniCluster, FluxJob")
	_, err = find(schema.GroupVersionKind{Group: "flow.volcano.sh", Version: "v1alpha1", Kind: "JobFlow"})
	assert.ErrorContains(t, err, "can't be watched")
}
