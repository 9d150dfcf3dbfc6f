//go:build e2e

package upgrade

import (
	"encoding/json"
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
	"k8s.io/apimachinery/pkg/types"
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

// An upgrade of an author's operator, with phases: the new build's preview has the first phase and names the later one. The build is
// killed in the middle of what it then does, and ends it: that equals the preview. A paused store gets no writes. An undo takes both
// phases back.
func TestKVStore(t *testing.T) {
	former := build(t, "./examples/kvstore")
	next := build(t, "./examples/kvstore", edit{
		"examples/kvstore/operator/operator.go", "	c.Command = []string{",
		"	c.Env = append(c.Env, corev1.EnvVar{Name: \"BUILD\", Value: \"next\"})\n	c.Command = []string{",
	})
	p := harness.Connect(t, "KVStore", 2*time.Minute, "examples/kvstore/config", kvv1.AddToScheme)
	programs := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(programs, "idle"), []byte("#!/bin/sh\nexec sleep 600\n"), 0o755)) //nolint:gosec // it is run
	t.Setenv("KUBECONFIG", testcluster.Kubeconfig(t))
	t.Setenv("KVSTORE_PROGRAMS", programs)
	for _, name := range []string{"demo", "held"} {
		kv := &kvv1.KVStore{}
		require.NoError(t, yaml.UnmarshalStrict([]byte(idle), kv))
		kv.ObjectMeta = metav1.ObjectMeta{Namespace: p.Namespace, Name: name}
		require.NoError(t, p.Client.Create(t.Context(), kv))
	}
	is := func(name, condition string) bool {
		kv := &kvv1.KVStore{}
		p.Get(name, kv)
		return meta.IsStatusConditionTrue(kv.Status.Conditions, condition)
	}
	builds := func(name string) (all []string) {
		for _, node := range []string{"coordinator", "gateway"} {
			d := &appsv1.Deployment{}
			require.NoError(t, p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: name + "-" + node}, d))
			for _, env := range d.Spec.Template.Spec.Containers[0].Env {
				if env.Name == "BUILD" {
					all = append(all, node)
				}
			}
		}
		return all
	}

	operator := binary.StartProgram(t, former)
	p.Eventually("the stores are ready", func() bool { return is("demo", events.ConditionReady) && is("held", events.ConditionReady) })
	operator.Stop()
	held := &kvv1.KVStore{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "held"}}
	require.NoError(t, p.Client.Patch(t.Context(), held,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"armature.dev/paused":"true"}}}`))))

	out, err := exec.CommandContext(t.Context(), next, "preview").Output()
	require.NoError(t, err)
	var report preview.Report
	require.NoError(t, json.Unmarshal(out, &report))
	require.Len(t, report.Details, 2, "%s", out)
	require.Len(t, report.Details[0].Changes, 1, "%s", out)
	coordinator, gateway := "Deployment.apps "+p.Namespace+"/demo-coordinator", "Deployment.apps "+p.Namespace+"/demo-gateway"
	assert.Equal(t, coordinator, report.Details[0].Changes[0].Object)
	assert.Equal(t, "restarts pods", report.Details[0].Changes[0].Disruption)
	assert.Contains(t, report.Details[0].Later, gateway)
	assert.Equal(t, "held", report.Details[1].Name)
	assert.Empty(t, report.Details[1].Changes, "it is paused")
	assert.Contains(t, report.Details[1].Status, preview.Field{Path: "status.conditions[type=Paused].status", New: "True"})

	since := len(lines(t))
	operator = binary.StartProgram(t, next)
	p.Eventually("the first phase", func() bool { return len(builds("demo")) > 0 })
	operator.Kill()
	assert.Equal(t, []string{"coordinator"}, builds("demo"))
	operator = binary.StartProgram(t, next)
	p.Eventually("both phases", func() bool { return len(builds("demo")) == 2 && is("demo", events.ConditionReady) })
	done := writes(t, p.Namespace, filepath.Base(next), since)
	assert.Equal(t, []string{"patch deployments.apps demo-coordinator", "patch deployments.apps demo-gateway"},
		slices.Compact(about(done, "deployments.apps")), "in the order of the preview")
	for _, w := range done {
		kind := strings.Fields(w)[1]
		assert.Contains(t, []string{"deployments.apps", "controllerrevisions.apps", "kvstores.examples.armature.dev/status"}, kind, w)
		assert.True(t, !strings.Contains(w, "held") || w == "patch kvstores.examples.armature.dev/status held", "it is paused: %s", w)
	}
	assert.Empty(t, builds("held"))

	_, errs, code := binary.RunIn(t, p.Namespace, "undo", "kvstore/demo")
	require.Zero(t, code, errs)
	p.Eventually("it is undone", func() bool { return is("demo", events.ConditionUndone) })
	assert.Empty(t, builds("demo"))
	_, errs, code = binary.RunIn(t, p.Namespace, "unpause", "kvstore/demo")
	require.Zero(t, code, errs)
	p.Eventually("the new build again", func() bool { return len(builds("demo")) == 2 && !is("demo", events.ConditionUndone) })
	operator.Stop()
}
