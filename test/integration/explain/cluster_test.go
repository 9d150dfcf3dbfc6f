package explain

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// breakNodes cordons fake-0, taints fake-1, and adds the nodes hand and ill, which no kubelet runs: the test says what one would,
// that hand is well and ill isn't.
func (p *place) breakNodes() {
	p.T.Helper()
	change := func(name string, how func(*corev1.Node)) {
		p.eventually("change node "+name, func() error {
			n := &corev1.Node{}
			if err := p.Client.Get(context.Background(), client.ObjectKey{Name: name}, n); err != nil {
				return err
			}
			how(n)
			return p.Client.Update(context.Background(), n)
		})
	}
	change("fake-0", func(n *corev1.Node) { n.Spec.Unschedulable = true })
	change("fake-1", func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "dedicated", Value: "others", Effect: corev1.TaintEffectNoSchedule})
	})
	for name, ready := range map[string]corev1.ConditionStatus{"hand": corev1.ConditionTrue, "ill": corev1.ConditionFalse} {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"kubernetes.io/hostname": name}}}
		n.Spec.Taints = []corev1.Taint{{Key: "no-kubelet", Effect: corev1.TaintEffectNoSchedule}} // for those only who name it
		require.NoError(p.T, p.Client.Create(context.Background(), n))
		p.clean(n)
		p.heartbeat(name)
		p.eventually("status of node "+name, func() error {
			if err := p.Client.Get(context.Background(), client.ObjectKey{Name: name}, n); err != nil {
				return err
			}
			now := metav1.Now()
			n.Status.Conditions = []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: ready, Reason: "Test", Message: "container runtime network not ready",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}}
			return p.Client.Status().Update(context.Background(), n)
		})
	}
}

// heartbeat renews the lease of a node as its kubelet would, so that it counts as alive.
func (p *place) heartbeat(node string) {
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-node-lease", Name: node}, Spec: coordinationv1.LeaseSpec{
		HolderIdentity: &node, LeaseDurationSeconds: new(int32(40)), RenewTime: new(metav1.NowMicro()),
	}}
	require.NoError(p.T, p.Client.Create(context.Background(), lease))
	p.clean(lease.DeepCopy())
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(10 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				lease.Spec.RenewTime = new(metav1.NowMicro())
				_ = p.Client.Update(ctx, lease) // the next one will do
			}
		}
	}()
	p.T.Cleanup(func() { cancel(); <-ended })
}

// forbid sets a policy that denies Jobs labelled deny=policy, a webhook that denies pods labelled deny=webhook, and another that
// can't be reached for those labelled deny=nobody.
func (p *place) forbid() {
	p.T.Helper()
	name := "explain-" + p.Namespace
	policy := &registrationv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: registrationv1.ValidatingAdmissionPolicySpec{
		FailurePolicy: ptr.To(registrationv1.Fail),
		MatchConstraints: &registrationv1.MatchResources{ResourceRules: []registrationv1.NamedRuleWithOperations{{
			RuleWithOperations: on("batch", "jobs"),
		}}},
		Validations: []registrationv1.Validation{{
			Expression: "!has(object.metadata.labels) || !('deny' in object.metadata.labels) || object.metadata.labels['deny'] != 'policy'",
			Message:    "Jobs need a cost centre",
		}},
	}}
	binding := &registrationv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: registrationv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: name, ValidationActions: []registrationv1.ValidationAction{registrationv1.Deny},
		MatchResources: &registrationv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{"kubernetes.io/metadata.name": p.Namespace},
		}},
	}}
	url, ca := p.denier()
	hook := func(label, url string, ca []byte) registrationv1.ValidatingWebhook {
		return registrationv1.ValidatingWebhook{
			Name: label + ".example.com", ClientConfig: registrationv1.WebhookClientConfig{URL: &url, CABundle: ca},
			Rules: []registrationv1.RuleWithOperations{on("", "pods")}, SideEffects: ptr.To(registrationv1.SideEffectClassNone),
			ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"deny": label}},
			FailurePolicy:           ptr.To(registrationv1.Fail),
			AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: new(int32(5)),
		}
	}
	hooks := &registrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}, Webhooks: []registrationv1.ValidatingWebhook{
		hook("webhook", url, ca), hook("nobody", "https://127.0.0.1:1/", ca),
	}}
	for _, obj := range []client.Object{policy, binding, hooks} {
		require.NoError(p.T, p.Client.Create(context.Background(), obj))
		p.clean(obj)
	}
	for _, label := range []string{"policy", "webhook"} {
		p.eventually("the "+label+" is in force", func() error { return p.isDenied(label) })
	}
}

func on(group, resource string) registrationv1.RuleWithOperations {
	return registrationv1.RuleWithOperations{
		Operations: []registrationv1.OperationType{registrationv1.Create},
		Rule:       registrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: []string{resource}},
	}
}

// isDenied returns an error as long as an object with this label is let through.
func (p *place) isDenied(label string) error {
	t := pod("true")
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	named := metav1.ObjectMeta{Namespace: p.Namespace, Name: "probe", Labels: map[string]string{"deny": label}}
	var obj client.Object = &batchv1.Job{ObjectMeta: named, Spec: batchv1.JobSpec{Template: t}}
	if label == "webhook" {
		obj = &corev1.Pod{ObjectMeta: named, Spec: t.Spec}
	}
	err := p.Client.Create(context.Background(), obj, client.DryRunAll)
	if err != nil && strings.Contains(err.Error(), "denied") {
		return nil
	}
	return errNotDenied{err}
}

type errNotDenied struct{ err error }

func (e errNotDenied) Error() string {
	if e.err == nil {
		return "let through"
	}
	return e.err.Error()
}

// denier runs an admission webhook that denies everything, and returns its address and the CA of its certificate.
func (p *place) denier() (url string, ca []byte) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			http.Error(w, "want an AdmissionReview", http.StatusBadRequest)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Result: &metav1.Status{Message: "images must be signed"}}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	p.T.Cleanup(server.Close)
	return server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}
