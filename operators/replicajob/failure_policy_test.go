package replicajob

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

type rule = v1alpha1.FailureRule

func codes(op v1alpha1.ExitCodeOperator, values ...int32) *v1alpha1.ExitCodes {
	return &v1alpha1.ExitCodes{Operator: op, Values: values}
}

func TestFailureRules(t *testing.T) {
	exits := func(code int32) func(*corev1.Pod) { return func(p *corev1.Pod) { end(p, code, p.CreationTimestamp) } }
	oom := func(p *corev1.Pod) {
		exits(137)(p)
		p.Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
	}
	says := func(message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { exits(1)(p); p.Status.ContainerStatuses[0].State.Terminated.Message = message }
	}
	preempted := func(p *corev1.Pod) {
		p.Status.Phase, p.Status.Message = corev1.PodFailed, "Preempted in order to admit critical pod"
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: "True", Reason: "TerminationByKubelet"}}
	}
	const fail, replica, ignore, job = "Fail", "RestartReplica", "Ignore", "RestartJob"
	tests := map[string]struct {
		rules []rule
		of    string
		how   func(*corev1.Pod)
		want  v1alpha1.FailureAction
	}{
		"no rules":                 {nil, "worker", exits(1), fail},
		"a rule for all":           {[]rule{{Action: replica}}, "worker", exits(1), replica},
		"the first match decides":  {[]rule{{Action: ignore, ReplicaTypes: []v1alpha1.ReplicaType{"PS"}}, {Action: job}, {Action: replica}}, "worker", exits(1), job},
		"by type":                  {[]rule{{Action: ignore, ReplicaTypes: []v1alpha1.ReplicaType{"PS"}}, {Action: job}}, "ps", exits(1), ignore},
		"exit code in":             {[]rule{{Action: replica, OnExitCodes: codes("In", 1, 3)}}, "worker", exits(3), replica},
		"exit code in, default":    {[]rule{{Action: replica, OnExitCodes: codes("", 3)}}, "worker", exits(3), replica},
		"exit code not in it":      {[]rule{{Action: replica, OnExitCodes: codes("In", 1, 3)}}, "worker", exits(2), fail},
		"exit code NotIn":          {[]rule{{Action: replica, OnExitCodes: codes("NotIn", 1)}}, "worker", exits(2), replica},
		"exit code NotIn, but in":  {[]rule{{Action: replica, OnExitCodes: codes("NotIn", 1)}}, "worker", exits(1), fail},
		"NotIn without a code":     {[]rule{{Action: replica, OnExitCodes: codes("NotIn", 1)}}, "worker", preempted, fail},
		"container's reason":       {[]rule{{Action: replica, OnReasons: []string{"X", "OOMKilled"}}}, "worker", oom, replica},
		"disruption's reason":      {[]rule{{Action: ignore, OnReasons: []string{"TerminationByKubelet"}}}, "worker", preempted, ignore},
		"any disruption":           {[]rule{{Action: ignore, OnReasons: []string{"DisruptionTarget"}}}, "worker", preempted, ignore},
		"another reason":           {[]rule{{Action: replica, OnReasons: []string{"Evicted"}}}, "worker", oom, fail},
		"message":                  {[]rule{{Action: job, OnMessage: "NCCL .*timeout"}}, "worker", says("rank 3: NCCL watchdog timeout"), job},
		"pod's message":            {[]rule{{Action: replica, OnMessage: "^Preempted"}}, "worker", preempted, replica},
		"another message":          {[]rule{{Action: job, OnMessage: "NCCL"}}, "worker", says("bug"), fail},
		"all that is asked holds":  {[]rule{{Action: job, OnMessage: "NCCL", OnExitCodes: codes("In", 1)}}, "worker", says("NCCL"), job},
		"not all that is asked is": {[]rule{{Action: job, OnMessage: "NCCL", OnExitCodes: codes("In", 2)}}, "worker", says("NCCL"), fail},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, makeJob(replicas("Worker", 2), replicas("PS", 1), rules(tt.rules...)))
			c.settle()
			c.run()
			c.change("demo-"+tt.of+"-0", tt.how)
			c.settle()
			status := c.job.Status
			got := v1alpha1.FailureAction(fail)
			counted := status.ReplicaStatuses["Worker"].Restarts + status.ReplicaStatuses["PS"].Restarts
			switch {
			case status.Restarts > 0:
				got = job
			case c.is("Failed") == "" && counted == 0:
				got = ignore
			case c.is("Failed") == "":
				got = replica
			}
			assert.Equal(t, tt.want, got)
			if got == ignore {
				assert.Equal(t, 1, label(c.pods["demo-"+tt.of+"-0"], LabelRestarts), "made again all the same")
			}
		})
	}
}
