// Package webhook lets a suite run with the validating webhook, if the environment asks for it:
//
//	ARMATURE_TEST_WEBHOOK=1 go test ./test/integration/jobflow
//
// It is the one of config/options/webhook, served by the test binary. Whatever it can't answer is refused, so that a test
// fails if it isn't there.
package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	certutil "k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/internal/admission"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience = 120 * time.Second
	// spared is the label of namespaces whose objects aren't judged.
	spared = "testcluster.armature.dev/no-webhook"
)

// on is whether the environment asks for the webhook.
func on() bool { return os.Getenv("ARMATURE_TEST_WEBHOOK") == "1" }

var serveOnce sync.Once

// Serve starts the webhook, if it is asked for, once in a test binary, and returns when the API server asks it. The CRDs must be
// there.
func Serve(t *testing.T) {
	t.Helper()
	if !on() {
		return
	}
	require.Empty(t, os.Getenv("ARMATURE_TEST_KUBECONFIG"), "the webhook needs a cluster that ends with the test binary")
	serveOnce.Do(func() { serve(t) })
}

// Spare leaves a namespace alone: objects get in as they do while there is no webhook, for tests of what becomes of them then.
func Spare(t *testing.T, namespace string) {
	t.Helper()
	if !on() {
		return
	}
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+spared+`":""}}}`))
	c := testcluster.Client(t, v1alpha1.AddToScheme)
	require.NoError(t, c.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, patch))
	until(t, "the namespace is spared", func(ctx context.Context) bool {
		return c.Create(ctx, circle(namespace), client.DryRunAll) == nil
	})
}

func serve(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "webhook-")
	require.NoError(t, err)
	defer os.RemoveAll(dir) // it has been read by then
	cert, key, err := certutil.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	require.NoError(t, l.Close())

	c := testcluster.Client(t, v1alpha1.AddToScheme)
	server := admission.Server(port, dir)
	admission.Register(server, c.Scheme(), admission.Clients{})
	go func() {
		if err := server.Start(context.Background()); err != nil { // until the test binary ends
			panic(err)
		}
	}()
	hooks := configuration(t)
	for i := range hooks.Webhooks {
		hook := &hooks.Webhooks[i]
		hook.FailurePolicy = ptr.To(admissionregistrationv1.Fail)
		hook.TimeoutSeconds = new(int32(30)) // the machine may be busy
		hook.NamespaceSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: spared, Operator: metav1.LabelSelectorOpDoesNotExist},
		}}
		url := "https://127.0.0.1:" + strconv.Itoa(port) + *hook.ClientConfig.Service.Path
		hook.ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: cert}
	}
	require.NoError(t, c.Create(t.Context(), hooks))
	until(t, "the API server asks the webhook", func(ctx context.Context) bool {
		return apierrors.IsInvalid(c.Create(ctx, circle("default"), client.DryRunAll))
	})
}

// configuration returns the configuration of the webhook as it is installed.
func configuration(t *testing.T) *admissionregistrationv1.ValidatingWebhookConfiguration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(binary.Root(t), "config/options/webhook/webhook.yaml"))
	require.NoError(t, err)
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		hooks := &admissionregistrationv1.ValidatingWebhookConfiguration{}
		asJSON, err := yaml.YAMLToJSON(part)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(asJSON, hooks))
		if hooks.Kind == "ValidatingWebhookConfiguration" {
			return hooks
		}
	}
	require.FailNow(t, "no ValidatingWebhookConfiguration in config/options/webhook")
	return nil
}

// circle is a flow that the webhook refuses.
func circle(namespace string) *v1alpha1.JobFlow {
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "webhook-probe"}}
	flow.Spec.Flows = []v1alpha1.Flow{{Name: "a", JobTemplateRef: "t", Dependencies: []string{"a"}}}
	return flow
}

func until(t *testing.T, what string, done func(context.Context) bool) {
	t.Helper()
	isDone := func(ctx context.Context) (bool, error) { return done(ctx), nil }
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true, isDone)
	require.NoError(t, err, what)
}
