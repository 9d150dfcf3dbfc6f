package builder_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/test/testcluster"
)

// assertAbout checks that an error is about one object and can be mended by someone.
func assertAbout(t *testing.T, err error, operation, key string) *builder.Error {
	t.Helper()
	var about *builder.Error
	require.ErrorAs(t, err, &about)
	assert.Equal(t, operation, about.Operation)
	assert.Equal(t, key, about.Key.String())
	assert.ErrorContains(t, err, operation+" "+key+": ")
	return about
}

func TestInvalidNamesItsFields(t *testing.T) {
	w := newWorld(t)
	bad := webDeployment()
	*bad.Spec.Replicas = -1
	bad.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort = 0
	_, _, err := w.want(bad)
	about := assertAbout(t, err, "create", "Deployment.apps "+w.ns+"/web")
	assert.True(t, apierrors.IsInvalid(about))
	assert.True(t, builder.IsTerminal(err))
	assert.Equal(t, []string{"spec.replicas", "spec.template.spec.containers[0].ports[0].containerPort"}, about.Fields())
}

func TestConflictIsNoNews(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	w.mustWant(true, "create", configMap("c", "a", "1"))
	before := w.get(configMap("c"))
	w.edit(configMap("c"), func(o client.Object) { o.SetLabels(map[string]string{"theirs": "1"}) })
	w.told.take()
	stale := builder.NewEngine(staleReads{w.cached, before}, builder.Options{Name: "tester", Recorder: w.told})
	_, err := stale.For(w.owner).ConfigMap(configMap("c", "a", "2")).Reconcile(w.ctx)
	about := assertAbout(t, err, "apply", "ConfigMap "+w.ns+"/c")
	assert.True(t, apierrors.IsConflict(about))
	assert.False(t, builder.IsTerminal(err))
	assert.Empty(t, w.told.take())
	w.mustWant(true, "the next pass", configMap("c", "a", "2"))
}

func TestKindThatIsNotInstalled(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	loose := &unstructured.Unstructured{}
	loose.SetAPIVersion("nowhere.example.com/v1")
	loose.SetKind("Gadget")
	loose.SetName("g")
	res, _, err := w.pass(loose, configMap("c"))
	assert.True(t, meta.IsNoMatchError(err))
	assert.EqualError(t, err, "the cluster doesn't know the kind Gadget.nowhere.example.com in version v1; "+
		"install its CustomResourceDefinition, which is looked for once a minute")
	assert.False(t, builder.IsTerminal(err), "it may be installed")
	assert.Len(t, res.Changes, 1, "the other child is made")

	res, err = w.engine.For(w.owner).Prune(loose, &corev1.ConfigMap{}).Reconcile(w.ctx)
	require.NoError(t, err, "of a kind that isn't there, there is nothing to prune")
	assert.Len(t, res.Changes, 1, "the other is pruned")
}

func TestNamespaceThatIsNotThere(t *testing.T) {
	w := newWorld(t)
	owner := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{GenerateName: "owner-"}}
	require.NoError(t, w.live.Create(w.ctx, owner))
	t.Cleanup(func() { _ = w.live.Delete(context.Background(), owner) })
	in := func(ns, name string) client.Object {
		c := configMap(name)
		c.Namespace = ns
		return c
	}
	b := w.engine.For(owner).Object(in(w.ns, "here"))
	for i := range 20 {
		b.Object(in("nowhere", fmt.Sprint("c-", i)))
	}
	w.sent.reset()
	res, err := b.Reconcile(w.ctx)
	about := assertAbout(t, err, "create", "ConfigMap nowhere/"+errorName(err))
	assert.True(t, apierrors.IsNotFound(about))
	assert.ErrorContains(t, err, `namespaces "nowhere" not found`)
	assert.False(t, builder.IsTerminal(err), "it may be made")
	require.Len(t, res.Changes, 1)
	assert.Equal(t, "here", res.Changes[0].Key.Name)
	assert.LessOrEqual(t, w.sent.count(http.MethodPost, "/nowhere/"), 8, "not all are tried")
}

func errorName(err error) string {
	return leaf(err).(*builder.Error).Key.Name
}

func TestNoPermission(t *testing.T) {
	w := newWorld(t)
	user := "user-" + w.ns
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "r"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch"}},
	}}
	require.NoError(t, w.live.Create(w.ctx, role))
	require.NoError(t, w.live.Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "r"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "r"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: user}},
	}))
	cfg := w.sent.watch(testcluster.Config(t))
	cfg.Impersonate = rest.ImpersonationConfig{UserName: user}
	limited, err := client.New(cfg, client.Options{Scheme: testScheme()})
	require.NoError(t, err)
	w.eventually(func() bool { return limited.List(w.ctx, &corev1.SecretList{}, client.InNamespace(w.ns)) == nil }, "the role to count")

	engine := builder.NewEngine(limited, builder.Options{Name: "limited", Recorder: w.told})
	var res builder.Result
	for range 2 {
		b := engine.For(w.owner)
		for i := range 20 {
			b.Object(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s-", i)}})
		}
		for i := range 20 {
			b.ConfigMap(configMap(fmt.Sprint("c-", i)))
		}
		w.sent.reset()
		var now builder.Result
		now, err = b.Reconcile(w.ctx)
		res.Changes = append(res.Changes, now.Changes...)
		about := assertAbout(t, err, "create", "Secret "+w.ns+"/"+errorName(err))
		assert.True(t, apierrors.IsForbidden(about))
		assert.ErrorContains(t, err, `cannot create resource "secrets"`)
		assert.False(t, builder.IsTerminal(err), "it may be granted")
		assert.Nil(t, about.Fields())
		assert.LessOrEqual(t, w.sent.count(http.MethodPost, "/secrets"), 8, "not all are tried")
	}
	assert.Len(t, res.Changes, 20, "what is permitted is done")
}

// policy denies ConfigMaps of the namespace labelled deny=yes, and returns once it does.
func (w *world) policy() {
	name := "deny-" + w.ns
	require.NoError(w.t, w.live.Create(w.ctx, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.ns}},
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
					RuleWithOperations: configMapWrites(),
				}},
			},
			Validations: []admissionregistrationv1.Validation{{
				Expression: "!has(object.metadata.labels) || !('deny' in object.metadata.labels)", Message: "labelled so",
			}},
		},
	}))
	require.NoError(w.t, w.live.Create(w.ctx, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}))
	w.t.Cleanup(func() {
		meta := metav1.ObjectMeta{Name: name}
		_ = w.live.Delete(context.Background(), &admissionregistrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: meta})
		_ = w.live.Delete(context.Background(), &admissionregistrationv1.ValidatingAdmissionPolicy{ObjectMeta: meta})
	})
	w.untilRefused()
}

// untilRefused waits until a labelled ConfigMap can't be created.
func (w *world) untilRefused() {
	w.eventually(func() bool {
		trial := w.denied("trial")
		trial.Namespace = w.ns
		err := w.live.Create(w.ctx, trial, client.DryRunAll)
		return err != nil && !apierrors.IsAlreadyExists(err)
	}, "admission")
}

func (w *world) denied(name string) *corev1.ConfigMap {
	c := configMap(name)
	c.Labels = map[string]string{"deny": "yes"}
	return c
}

func configMapWrites() admissionregistrationv1.RuleWithOperations {
	return admissionregistrationv1.RuleWithOperations{
		Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
		Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
	}
}

// webhook registers a webhook for the namespace's labelled ConfigMaps, served here, which has some seconds to answer, and returns once it
// is asked.
func (w *world) webhook(seconds int32, answer func(*admissionv1.AdmissionReview)) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		review := &admissionv1.AdmissionReview{}
		_ = json.NewDecoder(r.Body).Decode(review)
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID}
		answer(review)
		review.Request = nil
		_ = json.NewEncoder(rw).Encode(review)
	}))
	w.t.Cleanup(server.Close)
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hook-" + w.ns},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "hook.example.com", AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: &seconds,
			SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL:      new(server.URL),
				CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": w.ns}},
			ObjectSelector:    &metav1.LabelSelector{MatchLabels: map[string]string{"deny": "yes"}},
			Rules:             []admissionregistrationv1.RuleWithOperations{configMapWrites()},
		}},
	}
	require.NoError(w.t, w.live.Create(w.ctx, config))
	w.t.Cleanup(func() { _ = w.live.Delete(context.Background(), config) })
	w.untilRefused()
}

func TestAdmissionDenies(t *testing.T) {
	for name, c := range map[string]struct {
		deny func(*world)
		says string
	}{
		"policy": {(*world).policy, "labelled so"},
		"webhook": {func(w *world) {
			w.webhook(30, func(r *admissionv1.AdmissionReview) {
				r.Response.Result = &metav1.Status{Message: "not today", Code: 422, Reason: metav1.StatusReasonInvalid}
			})
		}, `admission webhook "hook.example.com" denied the request: not today`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, &corev1.ConfigMap{})
			recreate := builder.RecreateImmutable("")
			w.mustWant(true, "create", configMap("old", "a", "1"), recreate)
			before := w.get(configMap("old")).GetUID()
			c.deny(w)

			children := []client.Object{w.denied("no")}
			for i := range 40 {
				children = append(children, configMap(fmt.Sprint("c-", i)))
			}
			res, _, err := w.pass(children...)
			about := assertAbout(t, err, "create", "ConfigMap "+w.ns+"/no")
			assert.ErrorContains(t, about, c.says)
			assert.False(t, builder.IsTerminal(err), "it may be allowed another day")
			assert.Len(t, res.Changes, 40, "the others of its kind are made")

			_, _, err = w.want(w.denied("old"), recreate)
			assertAbout(t, err, "apply", "ConfigMap "+w.ns+"/old")
			assert.False(t, builder.IsTerminal(err))
			assert.Zero(t, w.sent.count(http.MethodPost, ""), "no trial")
			assert.Equal(t, before, w.get(configMap("old")).GetUID(), "a denial is no immutable field")
		})
	}
}

func TestWebhookThatDoesNotAnswer(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{}, &corev1.Secret{})
	release := make(chan struct{})
	defer close(release)
	w.webhook(1, func(*admissionv1.AdmissionReview) { <-release })
	var children []client.Object
	for i := range 20 {
		children = append(children, w.denied(fmt.Sprint("no-", i)))
	}
	for i := range 20 {
		children = append(children, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("s-", i)}})
	}
	res, _, err := w.pass(children...)
	about := assertAbout(t, err, "create", "ConfigMap "+w.ns+"/"+errorName(err))
	assert.True(t, apierrors.IsInternalError(about), "%v", err)
	assert.ErrorContains(t, err, "failed calling webhook")
	assert.False(t, builder.IsTerminal(err))
	assert.Len(t, res.Changes, 20, "other kinds are made")
	assert.LessOrEqual(t, w.sent.count(http.MethodPost, "/configmaps"), 8, "not all are tried")
}

func TestRequestThatTakesTooLong(t *testing.T) {
	w := newWorld(t, &corev1.ConfigMap{})
	asked, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	expire := sync.OnceFunc(func() { close(asked) })
	w.webhook(30, func(r *admissionv1.AdmissionReview) {
		if r.Request.Name == "slow" {
			expire()
			<-release
		}
	})
	_, err := w.engine.For(w.owner).ConfigMap(w.denied("slow")).Reconcile(expiring{w.ctx, asked})
	assertAbout(t, err, "create", "ConfigMap "+w.ns+"/slow")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.False(t, builder.IsTerminal(err))
}

// expiring is a context whose deadline passes when its channel is closed, however long that takes.
type expiring struct {
	context.Context
	expired chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.expired }

func (e expiring) Err() error {
	select {
	case <-e.expired:
		return context.DeadlineExceeded
	default:
		return nil
	}
}
