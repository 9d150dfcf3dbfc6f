package recipes

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apix "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rbac"
	v2 "github.com/armature-dev/armature/examples/recipes/v2"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
)

func bothVersions(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1.AddToScheme, v2.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	return scheme
}

// asks sends a review to a webhook of a manager that isn't started, and decodes the answer.
func asks(t *testing.T, mgr manager.Manager, path string, review any) {
	t.Helper()
	body, err := json.Marshal(review)
	require.NoError(t, err)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	mgr.GetWebhookServer().WebhookMux().ServeHTTP(answer, request)
	require.Equal(t, http.StatusOK, answer.Code, path)
	require.NoError(t, json.Unmarshal(answer.Body.Bytes(), review))
}

func TestWebhooks(t *testing.T) {
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://no-cluster.invalid"}, ctrl.Options{
		Scheme: bothVersions(t), Logger: logr.Discard(), Metrics: server.Options{BindAddress: "0"},
	})
	require.NoError(t, err)
	require.NoError(t, Webhooks(mgr))
	raw := func(obj runtime.Object) runtime.RawExtension {
		text, err := json.Marshal(obj)
		require.NoError(t, err)
		return runtime.RawExtension{Raw: text}
	}
	converts := func(from, to client.Object, version string) {
		t.Helper()
		review := &apix.ConversionReview{Request: &apix.ConversionRequest{
			UID: "a", DesiredAPIVersion: version, Objects: []runtime.RawExtension{raw(from)},
		}}
		asks(t, mgr, "/convert", review)
		require.Equal(t, metav1.StatusSuccess, review.Response.Result.Status, review.Response.Result.Message)
		require.NoError(t, json.Unmarshal(review.Response.ConvertedObjects[0].Raw, to))
	}

	// Nothing gets lost on the way to the other version and back.
	old := app()
	old.TypeMeta = metav1.TypeMeta{APIVersion: "examples.armature.dev/v1", Kind: "WebApp"}
	old.Annotations, old.Finalizers = map[string]string{"a": "b"}, []string{"armature.dev/cleanup"}
	old.Spec.Greeting, old.Spec.Command, old.Spec.Replicas = "Hi", []string{"serve"}, new(int32(3))
	old.Status = v1.WebAppStatus{ReadyReplicas: 2, Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue}}}
	later, back := &v2.WebApp{}, &v1.WebApp{}
	converts(old, later, "examples.armature.dev/v2")
	assert.Equal(t, v2.Page{Greeting: "Hi"}, later.Spec.Page)
	converts(later, back, "examples.armature.dev/v1")
	assert.Equal(t, old, back)

	later.Spec.Page.Title = "Shop"
	again := &v2.WebApp{}
	converts(later, back, "examples.armature.dev/v1")
	assert.Equal(t, "Shop", back.Annotations[titleAnnotation])
	converts(back, again, "examples.armature.dev/v2")
	assert.Equal(t, later, again)

	admits := func(path string, operation admissionv1.Operation, before, after *v1.WebApp) *admissionv1.AdmissionResponse {
		t.Helper()
		request := &admissionv1.AdmissionRequest{UID: "a", Operation: operation, Object: raw(after), OldObject: raw(before)}
		review := &admissionv1.AdmissionReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
		}
		asks(t, mgr, path, review)
		return review.Response
	}
	response := admits("/mutate-examples-armature-dev-v1-webapp", admissionv1.Create, old, old)
	assert.True(t, response.Allowed)
	assert.Contains(t, string(response.Patch), `"registry.example.com/web:1"`)
	const validate = "/validate-examples-armature-dev-v1-webapp"
	latest := old.DeepCopy()
	latest.Spec.Image = "web:latest"
	response = admits(validate, admissionv1.Create, latest, latest)
	assert.False(t, response.Allowed)
	assert.Contains(t, response.Result.Message, `spec.image is "web:latest"; accepted are tags of versions, such as :1.2`)
	assert.False(t, admits(validate, admissionv1.Update, old, latest).Allowed)
	assert.True(t, admits(validate, admissionv1.Update, latest, latest).Allowed)
	assert.True(t, admits(validate, admissionv1.Create, old, old).Allowed)
}

// The commands role and preview of a program set the webhooks up with managers that are never started.
func TestRoleOfAProgramWithWebhooks(t *testing.T) {
	_, err := rbac.Derive(rbac.Options{Scheme: bothVersions(t), CRDs: []string{"../webapp/config"}, Setup: func(mgr manager.Manager) error {
		require.NoError(t, Webhooks(mgr))
		return Renamed(mgr).Complete()
	}})
	require.NoError(t, err)
}

// An operator whose Go type moves to v2 finds the children that it made with v1, and changes only the version in their owner references;
// not in those with CreateOnly. The simulated server doesn't convert: it has the owner in both versions, with one UID.
func TestMoveOfAnOperatorToAnotherVersion(t *testing.T) {
	children := func(app *v1.WebApp) []builder.Child {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: app.Name}, Spec: batchv1.JobSpec{Template: template(app)}}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		return []builder.Child{builder.Want(servers(app)), builder.Want(job, builder.CreateOnly())}
	}
	former := builder.NewOperator[*v1.WebApp](nil, "web").Owns(&appsv1.Deployment{}).Owns(&batchv1.Job{}).
		Plan(func(app *v1.WebApp, _ builder.View) builder.Plan[*v1.WebApp] {
			return builder.Plan[*v1.WebApp]{Report: true, Children: children(app)}
		})
	moved := builder.NewOperator[*v2.WebApp](nil, "web").Owns(&appsv1.Deployment{}).Owns(&batchv1.Job{}).
		Plan(func(app *v2.WebApp, _ builder.View) builder.Plan[*v2.WebApp] {
			in1 := &v1.WebApp{}
			assert.NoError(t, toV1(t.Context(), app, in1))
			return builder.Plan[*v2.WebApp]{Report: true, Children: children(in1)}
		})
	owner, converted := app(), &v2.WebApp{}
	owner.UID = "app"
	require.NoError(t, toV2(t.Context(), owner, converted))
	server := buildertest.NewServer(bothVersions(t), buildertest.WithObjects(owner, converted),
		buildertest.WithStatusSubresource(owner, converted))
	writes := func(c *buildertest.Client, r reconcile.Reconciler, err error) (writes []string) {
		t.Helper()
		require.NoError(t, err)
		_, err = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(owner)})
		require.NoError(t, err)
		for _, call := range c.Ledger().Writes() {
			writes = append(writes, call.String())
		}
		return writes
	}
	c := server.Client("web")
	r, err := buildertest.NewReconciler(former, c, c.Now)
	assert.Len(t, writes(c, r, err), 3) // the children, and the status
	at := metav1.ObjectMeta{Namespace: "shop", Name: "web"}
	before := get(t, server, &appsv1.Deployment{ObjectMeta: at})

	c = server.Client("web")
	r, err = buildertest.NewReconciler(moved, c, c.Now)
	assert.Equal(t, []string{
		"patch Deployment.apps shop/web", "apply Deployment.apps shop/web", // its managed fields, at the first change since its creation
		"patch WebApp.examples.armature.dev/status shop/web",
	}, writes(c, r, err))
	after := get(t, server, &appsv1.Deployment{ObjectMeta: at})
	assert.Equal(t, "examples.armature.dev/v1", before.OwnerReferences[0].APIVersion)
	assert.Equal(t, "examples.armature.dev/v2", after.OwnerReferences[0].APIVersion)
	assert.Equal(t, before.Spec, after.Spec)
	job := get(t, server, &batchv1.Job{ObjectMeta: at})
	assert.Equal(t, "examples.armature.dev/v1", job.OwnerReferences[0].APIVersion)
}
