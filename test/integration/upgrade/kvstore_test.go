//go:build e2e

package upgrade

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/events"
	kvv1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// idle is a store of two node types whose pods only wait.
const idle = `
spec:
  deploymentOrder: [coordinator, gateway]
  nodes:
  - {name: coordinator, kind: Deployment, nodeType: coordinator, replicas: 1, k8sConfigGroup: idle, appConfigGroup: none}
  - {name: gateway, kind: Deployment, nodeType: gateway, replicas: 2, k8sConfigGroup: idle, appConfigGroup: none}
  k8sConfigGroup:
  - {name: idle, image: "idle:v1", nodeSelector: {devcluster.armature.dev/local: "true"}}
  appConfigGroup:
  - {name: none, commonRuntimeProperties: ""}
`

// kvstores are the stores of a test, and the program that runs them with the flags of package program.
type kvstores struct{ *harness.Place }

// start runs a build of the program: one store at a time is disrupted, and can be undone.
func (p kvstores) start(program string) *binary.Process {
	p.T.Helper()
	return binary.StartProgram(p.T, program, "--watch-namespaces", p.Namespace, "--leader-elect-namespace", p.Namespace,
		"--rollout-max-owners=1", "--undo", "--record-bytes=1000000", "--record-bind-address=127.0.0.1:0",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
}

// preview returns what a build says in a format, and its exit code.
func (p kvstores) preview(program, format string) (string, int) {
	p.T.Helper()
	cmd := exec.CommandContext(p.T.Context(), program, "preview", "--watch-namespaces", p.Namespace, "-o", format)
	out, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		require.NoError(p.T, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (p kvstores) is(name, condition string) bool {
	kv := &kvv1.KVStore{}
	p.Get(name, kv)
	return meta.IsStatusConditionTrue(kv.Status.Conditions, condition)
}

// builds are the phases of a store that the next build has changed.
func (p kvstores) builds(name string) (all []string) {
	p.T.Helper()
	for _, node := range []string{"coordinator", "gateway"} {
		d := &appsv1.Deployment{}
		require.NoError(p.T, p.Client.Get(p.T.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name + "-" + node}, d))
		for _, env := range d.Spec.Template.Spec.Containers[0].Env {
			if env.Name == "BUILD" {
				all = append(all, node)
			}
		}
	}
	return all
}

// armature runs a command of armature about the stores.
func (p kvstores) armature(args ...string) string {
	p.T.Helper()
	out, errs, code := binary.RunIn(p.T, p.Namespace, args...)
	require.Zero(p.T, code, errs)
	return out + errs
}

// An upgrade of an author's operator, with phases, which has all of this by packages of builder alone. The new build's preview has the
// first phase and names the later one. The build is killed in the middle of what it then does to the first of two stores; the former one
// takes that back, and the new one does it again: that equals the preview. A paused store and one that waits for its turn get no writes.
// An undo, which is killed in the middle as well, takes both phases back. The passes are on record.
func TestKVStore(t *testing.T) {
	former := build(t, "./examples/kvstore")
	next := build(t, "./examples/kvstore", edit{
		"examples/kvstore/operator/operator.go", "	c.Command = []string{",
		"	c.Env = append(c.Env, corev1.EnvVar{Name: \"BUILD\", Value: \"next\"})\n	c.Command = []string{",
	})
	p := kvstores{harness.Connect(t, "KVStore", 2*time.Minute, "examples/kvstore/config", kvv1.AddToScheme)}
	programs := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(programs, "idle"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755)) //nolint:gosec // it is run
	t.Setenv("KUBECONFIG", testcluster.Kubeconfig(t))
	t.Setenv("KVSTORE_PROGRAMS", programs)
	for _, name := range []string{"demo", "held", "paused"} {
		kv := &kvv1.KVStore{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(idle), kv))
		kv.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: name}
		if name == "demo" {
			kv.Labels = map[string]string{"armature.dev/canary": "true"} // goes first
		}
		require.NoError(t, p.Client.Create(t.Context(), kv))
	}

	operator := p.start(former)
	p.Eventually("the stores are ready", func() bool {
		return p.is("demo", events.ConditionReady) && p.is("held", events.ConditionReady) && p.is("paused", events.ConditionReady)
	})
	p.Eventually("nothing is left to do", func() bool {
		_, code := p.preview(former, "text")
		return code == 0
	})
	operator.Stop()
	p.armature("pause", "kvstore/paused")

	out, code := p.preview(next, "json")
	require.Equal(t, 3, code, out)
	var report preview.Report
	require.NoError(t, json.Unmarshal([]byte(out), &report))
	require.Len(t, report.Details, 3, out)
	assert.Equal(t, 2, report.Disruptive)
	for i, name := range []string{"demo", "held"} {
		require.Len(t, report.Details[i].Changes, 1, out)
		assert.Equal(t, "Deployment.apps "+p.Namespace+"/"+name+"-coordinator", report.Details[i].Changes[0].Object)
		assert.Equal(t, "restarts pods", report.Details[i].Changes[0].Disruption)
		assert.Contains(t, report.Details[i].Later, "Deployment.apps "+p.Namespace+"/"+name+"-gateway")
	}
	assert.Empty(t, report.Details[2].Changes, "it is paused")
	assert.Contains(t, report.Details[2].Status, preview.Field{Path: "status.conditions[type=Paused].status", New: "True"})
	out, code = p.preview(next, "markdown")
	assert.Equal(t, 3, code)
	assert.Contains(t, out, "| KVStore "+p.Namespace+"/demo | update Deployment.apps "+p.Namespace+"/demo-coordinator | restarts pods |")

	for _, middle := range []string{"a kill", "a rollback"} {
		since := len(lines(t))
		operator = p.start(next)
		p.Eventually("the first phase", func() bool { return len(p.builds("demo")) > 0 })
		p.Eventually("the other store waits", func() bool { return strings.Contains(p.armature("rollout", "status"), "waits    KVStore") })
		operator.Kill()
		assert.Subset(t, []string{"coordinator", "gateway"}, p.builds("demo"), middle)
		p.assertOnly(writes(t, p.Namespace, filepath.Base(next), since), "demo")
		if middle == "a rollback" {
			break
		}
		operator = p.start(former)
		p.Eventually("the former build has taken it back", func() bool {
			return len(p.builds("demo")) == 0 && strings.Contains(p.armature("rollout", "status"), "kvstore: Complete")
		})
		operator.Stop()
		p.assertOnly(writes(t, p.Namespace, filepath.Base(former), since), "demo")
	}

	since := len(lines(t))
	operator = p.start(next)
	p.Eventually("both phases of both stores", func() bool {
		return len(p.builds("demo")) == 2 && len(p.builds("held")) == 2 && strings.Contains(p.armature("rollout", "status"), "kvstore: Complete")
	})
	done := writes(t, p.Namespace, filepath.Base(next), since)
	held := slices.DeleteFunc(about(done, "deployments.apps"), func(w string) bool { return !strings.Contains(w, "held") })
	assert.Equal(t, []string{"patch deployments.apps held-coordinator", "patch deployments.apps held-gateway"}, slices.Compact(held),
		"in the order of the preview")
	p.assertOnly(done, "demo", "held")
	assert.Empty(t, p.builds("paused"))

	// An undo, and a kill in its middle.
	p.armature("undo", "kvstore/demo")
	p.Eventually("the undo has begun", func() bool { return len(p.builds("demo")) < 2 })
	operator.Kill()
	operator = p.start(next)
	p.Eventually("it is undone", func() bool { return p.is("demo", events.ConditionUndone) })
	assert.Empty(t, p.builds("demo"))
	p.armature("unpause", "kvstore/demo")
	p.Eventually("the new build again", func() bool { return len(p.builds("demo")) == 2 && !p.is("demo", events.ConditionUndone) })

	file := filepath.Join(t.TempDir(), "demo.json")
	assert.Contains(t, p.armature("record", "kvstore/demo", "--address", operator.Address(t, "recorded passes"), "-o", file), " in "+file)
	text, err := os.ReadFile(file) //nolint:gosec // written above
	require.NoError(t, err)
	assert.Contains(t, string(text), `"name": "BUILD"`)
	operator.Stop()
}

// assertOnly asserts that a program has written only the children of some stores and the operator's records, and of others only the status.
func (p kvstores) assertOnly(done []string, stores ...string) {
	p.T.Helper()
	for _, w := range done {
		what := strings.Fields(w)
		kind, name := what[1], what[2]
		store, _, _ := strings.Cut(name, "-")
		switch {
		case kind == "kvstores.examples.armature.dev/status", kind == "configmaps" && strings.HasPrefix(name, "kvstore-rollout-"):
		default:
			assert.Contains(p.T, []string{"deployments.apps", "controllerrevisions.apps"}, kind, w)
			assert.Contains(p.T, stores, store, "it is paused, or waits for its turn: %s", w)
		}
	}
}
