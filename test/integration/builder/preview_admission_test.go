package builder_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/preview"
	"github.com/armature-dev/armature/test/testcluster"
)

// admit lets the API server's admission change the ConfigMaps of the namespace: a value and an annotation.
func (w *world) admit() {
	w.t.Helper()
	policy := &admissionv1.MutatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Spec: admissionv1.MutatingAdmissionPolicySpec{
			ReinvocationPolicy: admissionv1.NeverReinvocationPolicy,
			MatchConstraints: &admissionv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: w.ns}},
				ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
				}}},
			},
			Mutations: []admissionv1.Mutation{{
				PatchType: admissionv1.PatchTypeJSONPatch,
				JSONPatch: &admissionv1.JSONPatch{Expression: `
					[JSONPatch{op: "add", path: "/data/of", value: "admission"}] +
					(has(object.metadata.annotations) ? [] : [JSONPatch{op: "add", path: "/metadata/annotations", value: {}}]) +
					[JSONPatch{op: "add", path: "/metadata/annotations/admitted", value: "yes"}]`},
			}},
		},
	}
	binding := &admissionv1.MutatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: w.ns},
		Spec:       admissionv1.MutatingAdmissionPolicyBindingSpec{PolicyName: w.ns},
	}
	for _, obj := range []client.Object{policy, binding} {
		require.NoError(w.t, w.live.Create(w.ctx, obj))
		w.t.Cleanup(func() { assert.NoError(w.t, w.live.Delete(context.Background(), obj)) })
	}
	w.eventually(func() bool {
		probe := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "probe"}, Data: map[string]string{"of": "probe"}}
		require.NoError(w.t, w.live.Create(w.ctx, probe, client.DryRunAll))
		return probe.Data["of"] == "admission"
	}, "the admission to change ConfigMaps")
}

// The preview says which values are not the program's, but those of the API server's admission.
func TestPreviewSaysWhatAdmissionChanges(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	widget := func(name string) {
		require.NoError(t, w.live.Create(w.ctx, &Widget{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}, Spec: WidgetSpec{Children: []string{"a"}},
		}))
	}
	widget("old2")
	w.run(release{}, func() bool {
		return w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: "old2-a"}, &corev1.ConfigMap{}) == nil
	})
	w.admit()
	widget("new2")

	report, _ := w.previewOf(release{version: "2"})
	got := map[string][]preview.Field{}
	for _, o := range report.Details {
		for _, c := range o.Changes {
			for _, f := range c.Fields {
				if f.Path != "metadata.ownerReferences" {
					got[c.Operation+" "+o.Name] = append(got[c.Operation+" "+o.Name], f)
				}
			}
		}
	}
	annotation := preview.Field{Path: "metadata.annotations.admitted", New: "yes", ByServer: true}
	assert.Subset(t, got["create new2"], []preview.Field{
		{Path: "data.of", New: "admission", ByServer: true}, {Path: "data.version", New: "2"}, annotation,
	})
	assert.Equal(t, []preview.Field{
		{Path: "data.of", Old: "old2", New: "admission", ByServer: true}, {Path: "data.version", New: "2"}, annotation,
	}, got["update old2"])
	for what, fields := range got {
		for _, f := range fields {
			assert.Equal(t, f.New == "admission" || f == annotation, f.ByServer, "%s: %v", what, f)
		}
	}
}
