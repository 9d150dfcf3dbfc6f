package cli

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 90 * time.Second
	pollEvery = 50 * time.Millisecond
)

// place is a test's namespace, where a manager runs.
type place struct {
	t         *testing.T
	client    client.Client
	namespace string
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := connect(t)
	p.namespace = testcluster.Namespace(t)
	p.manage()
	return p
}

// connect returns a place without a namespace.
func connect(t *testing.T) *place {
	t.Helper()
	testcluster.InstallCRDs(t, "config/crd")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	c, err := client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	return &place{t: t, client: c}
}

// manage runs a manager for the namespace.
func (p *place) manage() {
	t := p.t
	t.Helper()
	binary.Start(t, "manager", "--kubeconfig", testcluster.Kubeconfig(t), "--watch-namespaces", p.namespace,
		"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")
}

// armature runs a command in the namespace, and returns what it printed and its exit code.
func (p *place) armature(args ...string) (out, errs string, code int) {
	p.t.Helper()
	return p.command(append(args, "--kubeconfig", testcluster.Kubeconfig(p.t), "-n", p.namespace)...)
}

// command runs a command that needs no cluster.
func (p *place) command(args ...string) (out, errs string, code int) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), binary.Path(p.t), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // its exit code tells
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// completes returns what a shell would offer for the last of the arguments.
func (p *place) completes(command string, args ...string) string {
	p.t.Helper()
	all := append([]string{"__complete", command, "--kubeconfig", testcluster.Kubeconfig(p.t), "-n", p.namespace}, args...)
	out, errs, code := p.command(all...)
	require.Zero(p.t, code, "armature %v: %s", all, errs)
	return out
}

// succeeds runs a command that must succeed, and returns what it printed.
func (p *place) succeeds(args ...string) string {
	p.t.Helper()
	out, errs, code := p.armature(args...)
	require.Zero(p.t, code, "armature %v: %s", args, errs)
	return out
}

// fails runs a command that must fail, and returns what it said.
func (p *place) fails(args ...string) string {
	p.t.Helper()
	out, errs, code := p.armature(args...)
	require.Equal(p.t, 1, code, "armature %v: %s", args, out)
	return errs
}

func (p *place) create(obj client.Object) {
	p.t.Helper()
	obj.SetNamespace(p.namespace)
	require.NoError(p.t, p.client.Create(p.t.Context(), obj))
}

// waitState waits until a flow is in a state.
func (p *place) waitState(name string, state v1alpha1.State) {
	p.t.Helper()
	p.wait(name, string(state), func(flow *v1alpha1.JobFlow) bool { return flow.Status.State == state })
}

// waitReason waits until a FluxJob is in a state, and, if it matters, waits for a reason.
func (p *place) waitReason(name string, state v1alpha1.FluxJobState, reason string) {
	p.t.Helper()
	job := &v1alpha1.FluxJob{}
	p.eventually(fmt.Sprintf("%s to be %s %s", name, state, reason), func() bool {
		err := p.client.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, job)
		c := meta.FindStatusCondition(job.Status.Conditions, v1alpha1.ConditionJobWaitingForResources)
		return err == nil && job.Status.State == state && (reason == "" || (c != nil && c.Reason == reason))
	})
}

// eventually waits for something.
func (p *place) eventually(what string, done func() bool) {
	p.t.Helper()
	deadline := time.Now().Add(patience)
	for !done() { // on the test's goroutine: done may fail the test
		require.True(p.t, time.Now().Before(deadline), "not in time: "+what)
		time.Sleep(50 * time.Millisecond)
	}
}

// waitSuspended waits until a flow is suspended, or isn't any more.
func (p *place) waitSuspended(name string, suspended bool) {
	p.t.Helper()
	p.wait(name, fmt.Sprint("suspended: ", suspended), func(flow *v1alpha1.JobFlow) bool {
		return meta.IsStatusConditionTrue(flow.Status.Conditions, v1alpha1.ConditionSuspended) == suspended
	})
}

// wait waits until a flow's status is about its spec, and as it should be.
func (p *place) wait(name, what string, done func(*v1alpha1.JobFlow) bool) {
	p.t.Helper()
	flow := &v1alpha1.JobFlow{}
	require.Eventually(p.t, func() bool {
		err := p.client.Get(p.t.Context(), client.ObjectKey{Namespace: p.namespace, Name: name}, flow)
		return err == nil && flow.Status.ObservedGeneration == flow.Generation && done(flow)
	}, patience, pollEvery, "%s to be %s", name, what)
}

func flowOf(name string, nodes ...v1alpha1.Flow) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1alpha1.JobFlowSpec{Flows: nodes}}
}

func node(name, script string, dependencies ...string) v1alpha1.Flow {
	return v1alpha1.Flow{Name: name, Dependencies: dependencies, JobTemplate: &batchv1.JobSpec{
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "busybox:1.28", Command: []string{"sh", "-c", script},
		}}}},
	}}
}
