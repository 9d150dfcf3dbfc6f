package devcluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/armature-dev/armature/devcluster"
)

// colorer gives a widget without a color the color blue.
func colorer(_ context.Context, request admission.Request) admission.Response {
	widget := &unstructured.Unstructured{}
	if err := json.Unmarshal(request.Object.Raw, &widget.Object); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if _, has, _ := unstructured.NestedString(widget.Object, "spec", "color"); !has {
		_ = unstructured.SetNestedField(widget.Object, "blue", "spec", "color")
	}
	changed, err := json.Marshal(widget.Object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}

// noRed refuses red widgets.
func noRed(_ context.Context, request admission.Request) admission.Response {
	var widget struct{ Spec struct{ Color string } }
	if err := json.Unmarshal(request.Object.Raw, &widget); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if widget.Spec.Color == "red" {
		return admission.Denied("no red widgets")
	}
	return admission.Allowed("")
}

// convert sets the version that is asked for, and says so in an annotation.
func convert(w http.ResponseWriter, r *http.Request) {
	var review struct {
		metav1.TypeMeta
		Request *struct {
			UID               string
			DesiredAPIVersion string `json:"desiredAPIVersion"`
			Objects           []map[string]any
		} `json:"request,omitempty"`
		Response map[string]any `json:"response,omitempty"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, object := range review.Request.Objects {
		object["apiVersion"] = review.Request.DesiredAPIVersion
		_ = unstructured.SetNestedField(object, review.Request.DesiredAPIVersion, "metadata", "annotations", "converted-to")
	}
	review.Response = map[string]any{
		"uid": review.Request.UID, "result": map[string]any{"status": "Success"}, "convertedObjects": review.Request.Objects,
	}
	review.Request = nil
	_ = json.NewEncoder(w).Encode(review)
}

// serveWebhooks runs the webhook server of controller-runtime until the test ends.
func serveWebhooks(t *testing.T, options webhook.Options) {
	t.Helper()
	server := webhook.NewServer(options)
	server.Register("/mutate", &webhook.Admission{Handler: admission.HandlerFunc(colorer)})
	server.Register("/validate", &webhook.Admission{Handler: admission.HandlerFunc(noRed)})
	server.Register("/refuse", &webhook.Admission{Handler: admission.HandlerFunc(
		func(context.Context, admission.Request) admission.Response {
			return admission.Denied("refused by a URL")
		})})
	server.Register("/convert", http.HandlerFunc(convert))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	require.Eventually(t, func() bool { return server.StartedChecker()(nil) == nil }, patience, pollEvery)
}

// The configurations name a Service that doesn't exist, and have no caBundle, as those of kubebuilder before cert-manager fills them in.
func TestAPIServerCallsWebhooksOfTheTest(t *testing.T) {
	cluster := devcluster.StartCluster(t, devcluster.WithWebhooks(), devcluster.WithManifests(
		filepath.Join("testdata", "crds"), filepath.Join("testdata", "webhooks", "manifests.yaml")))
	client, err := dynamic.NewForConfig(cluster.Config())
	require.NoError(t, err)
	of := func(version string) dynamic.ResourceInterface {
		return client.Resource(schema.GroupVersionResource{Group: "example.com", Version: version, Resource: "widgets"}).Namespace("default")
	}
	_, err = of("v1").Create(t.Context(), widget("early", nil), metav1.CreateOptions{})
	require.ErrorContains(t, err, "connection refused", "nothing serves yet")

	hooks := cluster.Webhooks()
	serveWebhooks(t, webhook.Options{Host: hooks.Host, Port: hooks.Port, CertDir: hooks.CertDir})
	created, err := of("v1").Create(t.Context(), widget("plain", nil), metav1.CreateOptions{})
	require.NoError(t, err)
	require.Equal(t, "blue", created.Object["spec"].(map[string]any)["color"], "mutated")
	_, err = of("v1").Create(t.Context(), widget("red", map[string]any{"color": "red"}), metav1.CreateOptions{})
	require.ErrorContains(t, err, "no red widgets", "validated")

	converted, err := of("v2").Get(t.Context(), "plain", metav1.GetOptions{})
	require.NoError(t, err)
	require.Equal(t, "example.com/v2", converted.GetAnnotations()["converted-to"], "converted")

	configurations := client.Resource(schema.GroupVersionResource{
		Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingwebhookconfigurations",
	})
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/webhooks/0/clientConfig", "value": {"url": "https://%s:%d/refuse"}}]`,
		hooks.Host, hooks.Port)
	_, err = configurations.Patch(t.Context(), "validating", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := of("v1").Create(t.Context(), widget("another", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "refused by a URL")
	}, patience, pollEvery, "called at a URL, also without a caBundle")
}

func widget(name string, spec map[string]any) *unstructured.Unstructured {
	if spec == nil {
		spec = map[string]any{}
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}
