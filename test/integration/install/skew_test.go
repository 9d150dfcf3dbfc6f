package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/docs"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

// messageInDocs returns a message as a page of the manual has it, on one line.
func messageInDocs(t *testing.T, page, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(binary.Root(t), page))
	require.NoError(t, err)
	message := ""
	docs.Blocks(string(text), "message", func(is, old string) string {
		if is == name {
			message = strings.Join(strings.Fields(old), " ")
		}
		return old
	})
	require.NotEmpty(t, message)
	return message
}

// install runs "armature install" as the cluster's administrator.
func (c *cluster) install(flags ...string) (string, error) {
	c.t.Helper()
	args := append([]string{"install", "--kubeconfig", testcluster.Kubeconfig(c.t)}, flags...)
	out, err := exec.CommandContext(c.t.Context(), binary.Path(c.t), args...).CombinedOutput()
	return string(out), err
}

// changeSchema changes the schema of the spec of a kind in the cluster.
func (c *cluster) changeSchema(crdName string, change func(properties map[string]any)) {
	c.t.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetAPIVersion(crdKind.APIVersion)
	crd.SetKind(crdKind.Kind)
	require.NoError(c.t, retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the API server writes its status
		require.NoError(c.t, c.client.Get(c.t.Context(), client.ObjectKey{Name: crdName}, crd))
		versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
		require.NoError(c.t, err)
		at := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties"}
		properties, _, err := unstructured.NestedMap(versions[0].(map[string]any), at...)
		require.NoError(c.t, err)
		change(properties)
		require.NoError(c.t, unstructured.SetNestedMap(versions[0].(map[string]any), properties, at...))
		require.NoError(c.t, unstructured.SetNestedSlice(crd.Object, versions, "spec", "versions"))
		return c.client.Update(c.t.Context(), crd)
	}))
}

func TestInstallAndSkew(t *testing.T) {
	c := newCluster(t)
	c.removeCRDs()
	out, err := c.install("--dry-run")
	require.NoError(t, err, out)
	assert.Equal(t, 7, strings.Count(out, " created (dry run)\n"), out)
	assert.Empty(t, c.crds())

	out, err = c.install()
	require.NoError(t, err, out)
	assert.Equal(t, 7, strings.Count(out, " created\n"), out)
	out, err = c.install()
	require.NoError(t, err, out)
	assert.Equal(t, 7, strings.Count(out, " unchanged\n"), out)

	// A manager refuses a CRD that lacks a field, after a while.
	c.changeSchema("jobflows.api.practice.com", func(properties map[string]any) { delete(properties, "suspend") })
	args := []string{"manager", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false", "--kubeconfig", testcluster.Kubeconfig(t)}
	refusing := binary.Start(t, append(args, "--operators=jobflow")...)

	// Meanwhile: install refuses one that knows more, and writes none; a manager takes it.
	c.changeSchema("daemonjobs.api.practice.com", func(properties map[string]any) { properties["tomorrow"] = map[string]any{"type": "string"} })
	out, err = c.install()
	require.Error(t, err)
	assert.Contains(t, out, "the CRD daemonjobs.api.practice.com is newer than this program, which doesn't know v1alpha1 spec.tomorrow")
	namespace := testcluster.Namespace(t)
	job := &v1alpha1.DaemonJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "job"}, Spec: v1alpha1.DaemonJobSpec{Template: podOf("true")}}
	require.NoError(t, c.client.Create(t.Context(), job))
	taking := binary.Start(t, append(args, "--operators=daemonjob")...)
	c.wait(job, "the DaemonJob succeeds", func() bool { return job.Status.State == v1alpha1.StateSucceed })
	taking.Stop()

	<-refusing.Ended()
	assert.Contains(t, refusing.Log.String(), messageInDocs(t, "docs/upgrade.md", "too-old"))
	out, err = c.install("--force")
	require.NoError(t, err, out)
	assert.Contains(t, out, "daemonjobs.api.practice.com replaced")
	assert.Contains(t, out, "jobflows.api.practice.com upgraded")
	assert.Equal(t, 1, strings.Count(out, " upgraded\n"), out)
	binary.Start(t, append(args, "--operators=jobflow")...)
	c.waitSucceeded(c.flow(namespace, "flow", "true"))
}

// A cluster of jobflow-operator is taken over: its CRDs are upgraded, and what had ended doesn't run again.
func TestTakeOverFromJobFlowOperator(t *testing.T) {
	c := newCluster(t)
	c.removeCRDs()
	for kind, status := range map[string]map[string]any{"JobFlow": {"jobStatusList": anyObject}, "DaemonJob": {"jobStatusList": anyObject}, "JobTemplate": {"dependencyList": map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}} {
		require.NoError(t, c.client.Create(t.Context(), formerCRD(t, kind, status)))
	}
	namespace := testcluster.Namespace(t)
	old := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "api.practice.com/v1alpha1", "kind": "JobFlow", "metadata": map[string]any{"namespace": namespace, "name": "old"},
		"spec": map[string]any{"flows": []any{map[string]any{"name": "a", "jobTemplate": map[string]any{"template": map[string]any{"spec": map[string]any{
			"containers": []any{map[string]any{"name": "c", "image": "none", "command": []any{"true"}}}}}}}}},
	}}
	eventually(t, "the kind is served", func() bool { return c.client.Create(t.Context(), old) == nil })
	old.Object["status"] = map[string]any{"state": "Succeed", "jobStatusList": map[string]any{"old-a/" + namespace: map[string]any{"succeeded": int64(1)}}}
	require.NoError(t, c.client.Status().Update(t.Context(), old))

	out, err := c.install()
	require.NoError(t, err, out)
	assert.Equal(t, 3, strings.Count(out, " upgraded\n"), out)
	binary.Start(t, "manager", "--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false", "--kubeconfig", testcluster.Kubeconfig(t), "--operators=jobflow")
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "old"}}
	c.wait(flow, "it is taken over", func() bool { return flow.Status.CompletionTime != nil })
	assert.Equal(t, v1alpha1.StateSucceed, flow.Status.State)
	c.waitSucceeded(c.flow(namespace, "new", "true"))
	jobs := &batchv1.JobList{}
	require.NoError(t, c.client.List(t.Context(), jobs, client.InNamespace(namespace)))
	require.Len(t, jobs.Items, 1, "nothing of the old flow has run")
	assert.Equal(t, "new-n0", jobs.Items[0].Name)
}

var anyObject = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}

// formerCRD is a CRD as jobflow-operator had it: the spec, and a status of which only the state is known here.
func formerCRD(t *testing.T, kind string, status map[string]any) *unstructured.Unstructured {
	t.Helper()
	plural := strings.ToLower(kind) + "s"
	text, err := os.ReadFile(filepath.Join(binary.Root(t), "config/crd/api.practice.com_"+plural+".yaml"))
	require.NoError(t, err)
	of := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &of.Object))
	versions, _, err := unstructured.NestedSlice(of.Object, "spec", "versions")
	require.NoError(t, err)
	status["state"] = map[string]any{"type": "string"}
	version := versions[0].(map[string]any)
	version["subresources"] = map[string]any{"status": map[string]any{}}
	delete(version, "additionalPrinterColumns")
	schema := map[string]any{"type": "object", "properties": status}
	require.NoError(t, unstructured.SetNestedMap(version, schema, "schema", "openAPIV3Schema", "properties", "status"))
	require.NoError(t, unstructured.SetNestedSlice(of.Object, versions, "spec", "versions"))
	return of
}

// What Helm has installed is Helm's to upgrade. This is about Helm 3, the other tests are about Helm 4.
func TestInstallLeavesAHelmReleaseAlone(t *testing.T) {
	c := newCluster(t)
	c.helm3 = true
	c.removeCRDs()
	c.installChart(thisChart(t))
	out, err := c.install()
	require.Error(t, err)
	assert.Contains(t, out, "the CRD jobflows.api.practice.com belongs to the Helm release armature: upgrade that, or use --force")
	out, err = c.install("--force")
	require.NoError(t, err, out)
	c.helm("upgrade", release, thisChart(t), "--set", "replicas=0")
	c.uninstall()

	// CRDs that are there already, by install, can be left to it.
	c.installChart(thisChart(t), "--set", "crds.install=false")
}
