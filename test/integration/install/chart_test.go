package install

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

// previousChart returns the chart of the commit before, or this one where there is no such chart, or no history.
func previousChart(t *testing.T) string {
	t.Helper()
	root, dir := binary.Root(t), t.TempDir()
	archive := exec.CommandContext(t.Context(), "sh", "-c", `git archive HEAD~1 charts/armature | tar -x -C "$0"`, dir)
	archive.Dir = root
	out, err := archive.CombinedOutput()
	if _, statErr := os.Stat(filepath.Join(dir, "charts/armature/Chart.yaml")); statErr != nil {
		t.Logf("no chart of the commit before, this one is taken: %v %s", err, out)
		return filepath.Join(root, "charts/armature")
	}
	return filepath.Join(dir, "charts/armature")
}

// TestChart installs the chart of the commit before, upgrades to this one while things run, and uninstalls.
func TestChart(t *testing.T) {
	c := newCluster(t)
	c.removeCRDs()
	namespace := testcluster.Namespace(t)
	c.installChart(previousChart(t))

	first := c.manager()
	done := c.flow(namespace, "done", "true", "true")
	c.waitSucceeded(done)
	marker := filepath.Join(t.TempDir(), "go-on")
	busy := c.flow(namespace, "busy", "true", "until [ -e "+marker+" ]; do sleep 0.1; done", "true")
	c.wait(busy, "its second Job runs", func() bool { return busy.Status.Flows != nil && stateOf(busy, "n1") == v1alpha1.FlowRunning })
	before := c.uids(namespace)

	c.helm("upgrade", release, thisChart(t), "--set", "replicas=0", "--set", "maxConcurrentReconciles=4")
	first.Stop()
	noneForbidden(t, first)
	second := c.manager()
	c.allKinds(namespace)
	require.NoError(t, os.WriteFile(marker, nil, 0o644))
	c.waitSucceeded(busy)
	after := c.uids(namespace)
	for name, uid := range before {
		assert.Equal(t, uid, after[name], "%s is the one from before the upgrade", name)
	}
	noneForbidden(t, second)

	manifest := manifestOf(t, c.helm("get", "manifest", release))
	c.uninstall()
	for _, obj := range manifest {
		if obj.GetKind() == crdKind.Kind {
			assert.False(t, c.isGone(obj), "%s stays", obj.GetName())
		} else {
			assert.True(t, c.isGone(obj), "%s %s goes", obj.GetKind(), obj.GetName())
		}
	}
	assert.Len(t, c.crds(), 7)
	for name, uid := range c.uids(namespace) {
		assert.Equal(t, uid, after[name], "%s stays", name)
	}
	c.wait(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: installed}}, "the namespace stays", func() bool { return true })

	// Installed anew, it goes on with what is there.
	c.installChart(thisChart(t))
	second.Stop()
	c.manager()
	c.waitSucceeded(c.flow(namespace, "again", "true"))
}

func stateOf(flow *v1alpha1.JobFlow, name string) v1alpha1.FlowState {
	i := slices.IndexFunc(flow.Status.Flows, func(f v1alpha1.FlowStatus) bool { return f.Name == name })
	if i < 0 {
		return ""
	}
	return flow.Status.Flows[i].State
}

func jobOf(script string) *batchv1.JobSpec { return &batchv1.JobSpec{Template: podOf(script)} }

// uids returns which flows and Jobs there are in a namespace.
func (c *cluster) uids(namespace string) map[string]types.UID {
	c.t.Helper()
	all := map[string]types.UID{}
	var flows v1alpha1.JobFlowList
	require.NoError(c.t, c.client.List(c.t.Context(), &flows, client.InNamespace(namespace)))
	for _, f := range flows.Items {
		all["flow "+f.Name] = f.UID
	}
	var jobs batchv1.JobList
	require.NoError(c.t, c.client.List(c.t.Context(), &jobs, client.InNamespace(namespace)))
	for _, j := range jobs.Items {
		all["job "+j.Name] = j.UID
	}
	require.NotEmpty(c.t, slices.Collect(maps.Keys(all)))
	return all
}

// manifestOf returns the objects of a release.
func manifestOf(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var all []*unstructured.Unstructured
	for part := range strings.SplitSeq(text, "\n---\n") {
		obj := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(strings.TrimPrefix(part, "---\n")), &obj.Object), part)
		if len(obj.Object) > 0 {
			all = append(all, obj)
		}
	}
	require.NotEmpty(t, all)
	return all
}
