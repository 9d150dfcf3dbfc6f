package manual

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// TestQuota: the ResourceQuota of docs/install.md counts each kind that is in a namespace, and refuses one more than it says.
// All numbers are 1 here, so that the second object of a kind is one too many.
func TestQuota(t *testing.T) {
	t.Parallel()
	testcluster.InstallCRDs(t, "config/crd")
	c, namespace := testcluster.Client(t), testcluster.Namespace(t)
	page, err := os.ReadFile(filepath.Join(root, "docs/install.md"))
	require.NoError(t, err)
	_, text, ok := strings.Cut(string(page), "```yaml\napiVersion: v1\nkind: ResourceQuota\n")
	require.True(t, ok, "the quota of the page")
	text, _, _ = strings.Cut(text, "```")
	quota := &corev1.ResourceQuota{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), quota))
	for name := range quota.Spec.Hard {
		quota.Spec.Hard[name] = resource.MustParse("1")
	}
	quota.Namespace = namespace
	require.NoError(t, c.Create(t.Context(), quota))
	harness.Eventually(t, patience, "the quota controller knows the kinds", func() bool {
		found := &corev1.ResourceQuota{}
		err := c.Get(t.Context(), client.ObjectKeyFromObject(quota), found)
		if err != nil || len(found.Status.Used) == len(quota.Spec.Hard) {
			return err == nil
		}
		// Kinds are looked for every 30 seconds, and a quota is counted every 5 minutes, or when it changes.
		found.Spec.Hard[corev1.ResourcePods] = *resource.NewQuantity(found.Spec.Hard.Pods().Value()%2+1, resource.DecimalSI)
		_ = c.Update(t.Context(), found)
		return false
	})

	container := `{name: main, image: none, command: ["true"]}`
	template := `{spec: {restartPolicy: Never, containers: [` + container + `]}}`
	specs := map[string]string{
		"jobflows":     `{kind: JobFlow, spec: {flows: [{name: only, jobTemplateRef: t}]}}`,
		"jobtemplates": `{kind: JobTemplate, spec: {jobTemplate: {template: ` + template + `}}}`,
		"daemonjobs":   `{kind: DaemonJob, spec: {template: ` + template + `}}`,
		"replicajobs":  `{kind: ReplicaJob, spec: {replicaSpecs: {Worker: {template: ` + template + `}}}}`,
		"miniclusters": `{kind: MiniCluster, spec: {size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]}}`,
		"fluxjobs":     `{kind: FluxJob, spec: {queue: q, miniCluster: {size: 1, flux: {disable: true}, containers: [{image: none, command: "true"}]}}}`,
	}
	crds, err := filepath.Glob(filepath.Join(root, "config/crd/api.practice.com_*.yaml"))
	require.NoError(t, err)
	for _, crd := range crds {
		plural := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(crd), "api.practice.com_"), ".yaml")
		if plural == "fluxsetups" { // in no namespace
			continue
		}
		assert.Contains(t, quota.Spec.Hard, corev1.ResourceName("count/"+plural+".api.practice.com"))
		object := func(name string) *unstructured.Unstructured {
			obj := &unstructured.Unstructured{}
			require.NoError(t, yaml.Unmarshal([]byte(specs[plural]), &obj.Object), plural)
			obj.SetAPIVersion(v1alpha1.GroupVersion.String())
			obj.SetNamespace(namespace)
			obj.SetName(name)
			return obj
		}
		require.NoError(t, c.Create(t.Context(), object("a")), plural)
		err := c.Create(t.Context(), object("b"))
		require.True(t, apierrors.IsForbidden(err), "%s: %v", plural, err)
		assert.ErrorContains(t, err, "exceeded quota: armature", plural)
	}
}
