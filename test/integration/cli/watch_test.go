package cli

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

func TestWatchTellsWhatAFailedNodeSaid(t *testing.T) {
	p := newPlace(t)
	p.create(flowOf("bad", node("a", "true"), node("b", "echo boom; exit 3", "a")))
	p.watches(t, "jf/bad", 1, "b                    last said:\n       │ boom\n", "jobflow bad is Failed, 1/2, 1 failed\n")
	_, _, code := p.armature("watch", "jf/none")
	assert.Equal(t, 1, code)
}

// watches runs watch until it has said some texts, and returns what it printed the first time. Each time it must end with a code. It waits
// a few seconds for the logs of what has failed, and does without those of a slow machine. So only texts with logs may be missing at first.
func (p *place) watches(t *testing.T, what string, code int, says ...string) (first string) {
	t.Helper()
	var out string
	harness.Eventually(t, p.Patience, "watch "+what+" to say all", func() bool {
		var errs string
		var got int
		out, errs, got = p.armature("watch", what)
		require.Equal(t, code, got, errs)
		require.Empty(t, errs, "the output has said it")
		first = cmp.Or(first, out)
		return !slices.ContainsFunc(says, func(text string) bool { return !strings.Contains(out, text) })
	}, func() any { return out })
	for _, text := range says {
		if !strings.Contains(text, "│") {
			assert.Contains(t, first, text, "the first time")
		}
	}
	return first
}

// TestWatchOfJobs: all kinds that run to an end, as a script sees them.
func TestWatchOfJobs(t *testing.T) {
	p := newPlaceAlone(t)
	p.createQueue(p.Namespace)
	pods := func(script string) corev1.PodTemplateSpec { return node("a", script).JobTemplate.Template }
	replicas := func(name, script string) *v1alpha1.ReplicaJob {
		return &v1alpha1.ReplicaJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.ReplicaJobSpec{
			ReplicaSpecs: map[v1alpha1.ReplicaType]v1alpha1.ReplicaSpec{"Master": {Template: pods(script)}},
		}}
	}
	cluster := v1alpha1.MiniClusterSpec{
		Flux:       v1alpha1.MiniClusterFlux{Disable: true},
		Containers: []v1alpha1.MiniClusterContainer{{Image: "busybox:1.28", Command: "echo boom; exit 6"}},
	}
	p.create(daemonJob("scan", "echo boom on $NODE; test $NODE != node-2"))
	p.create(replicas("bad", "echo boom; exit 7"))
	p.create(replicas("good", "sleep 1"))
	p.create(&v1alpha1.MiniCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster"}, Spec: cluster})
	p.create(&v1alpha1.FluxJob{ObjectMeta: metav1.ObjectMeta{Name: "flux"}, Spec: v1alpha1.FluxJobSpec{Queue: p.Namespace, MiniCluster: &cluster}})
	for what, tt := range map[string]struct {
		code int
		says []string
	}{
		"daemonjob/scan":  {1, []string{"node-2               Failed   BackoffLimitExceeded", "node-2               last said:\n       │ boom on node-2\n", "daemonjob scan is Failed, 2/3, 1 failed\n"}},
		"rj/bad":          {1, []string{"Master x1            Failed   1 failed\n", "Master x1            last said:\n       │ boom\n", "replicajob bad is Failed, 0/1, 1 failed\n"}},
		"replicajob/good": {0, []string{"Master x1            Succeed  1 succeeded\n", "replicajob good is Succeeded, 1/1\n"}},
		"mc/cluster":      {1, []string{"ended with exit code 6", "       │ boom\n", "minicluster cluster is Failed, 0/1, 1 failed\n"}},
		"fj/flux":         {1, []string{"run                  Failed   exit code 6\n", "       │ boom\n", "fluxjob flux is Failed, 1/2, 1 failed\n"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			out := p.watches(t, what, tt.code, tt.says...)
			if at := strings.Index(out, " is Running,"); at >= 0 {
				assert.NotContains(t, out[at:], " is Starting,", "a state doesn't go back")
				assert.NotContains(t, out[at:], " is Ready,", "a state doesn't go back")
			}
		})
	}
	assert.Contains(t, p.fails("watch", "cm/kube-root-ca.crt"), "a ConfigMap can't be watched; supported kinds: JobFlow, DaemonJob, ReplicaJob, MiniCluster, FluxJob")
	assert.Contains(t, p.fails("watch", "rj/none"), "not found")
}

// daemonJob returns a DaemonJob for all nodes, whose script has the node's name in NODE.
func daemonJob(name, script string) *v1alpha1.DaemonJob {
	job := &v1alpha1.DaemonJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.DaemonJobSpec{Template: node("a", script).JobTemplate.Template}}
	job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	job.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}}}
	return job
}

// waitDaemon waits until a DaemonJob has ended.
func (p *place) waitDaemon(name string) {
	p.T.Helper()
	job := &v1alpha1.DaemonJob{}
	p.Eventually(name+" to end", func() bool {
		return p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name}, job) == nil && job.Status.CompletionTime != nil
	})
}
