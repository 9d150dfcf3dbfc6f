//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

const (
	pageName        = "armature-ui"
	pageHost        = pageName + "." + home + ".svc"
	pageCertificate = "ui-certificate"
)

// makePageCertificate makes the Secret of ui.certificateSecret.
func makePageCertificate(ctx context.Context) error {
	cert, key, err := certutil.GenerateSelfSignedCertKey(pageHost, nil, nil)
	if err != nil {
		return err
	}
	return cluster.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: home, Name: pageCertificate}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: cert, corev1.TLSPrivateKeyKey: key},
	})
}

// The page that the chart installs: it is served by https with the Secret's certificate, each viewer has the rights of his own token,
// and the page has none.
func TestPageInTheCluster(t *testing.T) {
	t.Parallel()
	mine, other := newSpace(t), newSpace(t)
	for _, s := range []*space{mine, other} {
		require.NoError(t, cluster.Create(t.Context(), suspendedFlow(s.name)))
	}
	p := newVisit(mine)

	t.Run("the page", func(t *testing.T) {
		answer, body := p.ask(t, http.MethodGet, "/flows/a/b", nil)
		assert.Equal(t, http.StatusOK, answer.StatusCode)
		assert.Contains(t, body, "<title>Armature</title>")
		assert.Contains(t, answer.Header.Get("Content-Security-Policy"), "default-src 'none'")
		assert.NotEmpty(t, answer.Header.Get("Strict-Transport-Security"))
		plain, err := http.Get("http://" + p.address + "/") //nolint:noctx // it answers at once
		require.NoError(t, err)
		defer plain.Body.Close()
		assert.Equal(t, http.StatusBadRequest, plain.StatusCode, "there is nothing without TLS")
	})

	t.Run("no token", func(t *testing.T) {
		for _, path := range []string{
			"/api/session", "/api/access", "/api/stream/objects", "/api/stream/queues", "/api/schema?kind=JobFlow",
			"/api/stream/flow?namespace=" + mine.name + "&name=held",
		} {
			answer, body := p.ask(t, http.MethodGet, path, nil)
			assert.Equal(t, http.StatusUnauthorized, answer.StatusCode, "%s: %s", path, body)
		}
		answer, body := p.ask(t, http.MethodPost, "/api/session", map[string]string{"token": "made-up"})
		assert.Equal(t, http.StatusUnauthorized, answer.StatusCode, body)
		assert.Empty(t, answer.Cookies())
	})

	t.Run("a viewer of one namespace", func(t *testing.T) {
		p := p
		p.token = viewerOf(mine)
		answer, body := p.ask(t, http.MethodPost, "/api/session", map[string]string{"token": p.token})
		require.Equal(t, http.StatusOK, answer.StatusCode, body)
		assert.Contains(t, body, `"user":"system:serviceaccount:`+mine.name+`:viewer"`)
		require.Len(t, answer.Cookies(), 1)
		cookie := answer.Cookies()[0]
		assert.True(t, cookie.Secure && cookie.HttpOnly && cookie.SameSite == http.SameSiteStrictMode, "%s", cookie)
		p.token, p.cookie = "", cookie

		objects := p.stream(t, "/api/stream/objects?kind=JobFlow&namespace="+mine.name+"&namespace="+other.name)
		assert.Contains(t, objects, `"namespace":"`+mine.name+`","name":"held"`)
		assert.NotContains(t, objects, `"namespace":"`+other.name+`","name":"held"`)
		assert.Contains(t, objects, `"kind":"JobFlow","namespace":"`+other.name+`","state":"forbidden"`)
		assert.NotContains(t, p.stream(t, "/api/stream/objects?kind=JobFlow"), `"name":"held"`, "of all namespaces")
		assert.Contains(t, p.stream(t, "/api/stream/queues?namespace="+mine.name), `"kind":"FluxSetup","state":"forbidden"`)

		_, access := p.ask(t, http.MethodGet, "/api/access?namespace="+mine.name, nil)
		assert.Contains(t, access, `"kind":"JobFlow"`)
		for _, verb := range []string{"create", "patch", "delete"} {
			assert.NotContains(t, access, `"`+verb+`"`, "it isn't offered")
		}
		for _, s := range []*space{mine, other} {
			flow := &v1alpha1.JobFlow{}
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKey{Namespace: s.name, Name: "held"}, flow))
			answer, body := p.ask(t, http.MethodPost, "/api/actions",
				map[string]string{"verb": "delete", "kind": "JobFlow", "namespace": s.name, "name": "held", "uid": string(flow.UID)})
			assert.Equal(t, http.StatusForbidden, answer.StatusCode, body)
			require.NoError(t, cluster.Get(t.Context(), client.ObjectKeyFromObject(flow), flow))
			assert.Nil(t, flow.DeletionTimestamp)
		}
	})

	t.Run("another site", func(t *testing.T) {
		p := p
		p.token, p.site = viewerOf(other), "cross-site"
		answer, body := p.ask(t, http.MethodPost, "/api/actions",
			map[string]string{"verb": "resume", "kind": "JobFlow", "namespace": other.name, "name": "held"})
		assert.Equal(t, http.StatusForbidden, answer.StatusCode)
		assert.Contains(t, body, "another site")
	})

	t.Run("the page's own account", func(t *testing.T) { pageHasNoRights(t) })
}

// suspendedFlow is a flow that nothing happens to.
func suspendedFlow(namespace string) *v1alpha1.JobFlow {
	flow := &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "held"}}
	flow.Spec.Suspend = true
	flow.Spec.Flows = []v1alpha1.Flow{{Name: "a", JobTemplateRef: "none"}}
	return flow
}

// viewerOf returns the token of a service account that may look at the kinds of Armature in a namespace, and do nothing else.
func viewerOf(s *space) string {
	s.Helper()
	at := metav1.ObjectMeta{Namespace: s.name, Name: "viewer"}
	account := &corev1.ServiceAccount{ObjectMeta: at}
	for _, obj := range []client.Object{
		account,
		&rbacv1.Role{ObjectMeta: at, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}},
		}},
		&rbacv1.RoleBinding{
			ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "viewer"},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: s.name, Name: "viewer"}},
		},
	} {
		require.NoError(s, cluster.Create(s.Context(), obj))
	}
	request := &authenticationv1.TokenRequest{}
	require.NoError(s, cluster.SubResource("token").Create(s.Context(), account, request))
	return request.Status.Token
}

// pageHasNoRights looks at the page's service account: no role is bound to it, and its pods don't even have its token.
func pageHasNoRights(t *testing.T) {
	t.Helper()
	bindings, clusterBindings := &rbacv1.RoleBindingList{}, &rbacv1.ClusterRoleBindingList{}
	require.NoError(t, cluster.List(t.Context(), bindings))
	require.NoError(t, cluster.List(t.Context(), clusterBindings))
	var subjects []rbacv1.Subject
	for i := range bindings.Items {
		subjects = append(subjects, bindings.Items[i].Subjects...)
	}
	for i := range clusterBindings.Items {
		subjects = append(subjects, clusterBindings.Items[i].Subjects...)
	}
	assert.Contains(t, subjects, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: home, Name: "armature"}, "the manager's are found")
	for _, s := range subjects {
		assert.NotEqual(t, pageName, s.Name)
	}
	pods := &corev1.PodList{}
	require.NoError(t, cluster.List(t.Context(), pods, client.InNamespace(home), client.MatchingLabels{"app.kubernetes.io/name": pageName}))
	require.NotEmpty(t, pods.Items)
	for i := range pods.Items {
		spec := &pods.Items[i].Spec
		assert.Equal(t, pageName, spec.ServiceAccountName)
		for _, v := range spec.Volumes {
			assert.Nil(t, v.Projected, "the volume %s of %s has a token", v.Name, pods.Items[i].Name)
		}
	}
}

// visit is a browser's connection to the page.
type visit struct {
	client  *http.Client
	address string
	token   string
	cookie  *http.Cookie
	site    string // of the header Sec-Fetch-Site
}

// newVisit waits until the page is ready behind its Service, and connects as someone who trusts the Secret's certificate only.
func newVisit(s *space) visit {
	s.Helper()
	_, err := kubectl("rollout", "status", "deployment/"+pageName, "--namespace", home, "--timeout=300s")
	require.NoError(s, err)
	service, secret := &corev1.Service{}, &corev1.Secret{}
	require.NoError(s, cluster.Get(s.Context(), client.ObjectKey{Namespace: home, Name: pageName}, service))
	require.NoError(s, cluster.Get(s.Context(), client.ObjectKey{Namespace: home, Name: pageCertificate}, secret))
	roots := x509.NewCertPool()
	require.True(s, roots.AppendCertsFromPEM(secret.Data[corev1.TLSCertKey]))
	p := visit{
		address: net.JoinHostPort(service.Spec.ClusterIP, "443"), site: "same-origin",
		client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: pageHost, MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort(service.Spec.ClusterIP, "443"))
			},
		}},
	}
	s.Cleanup(p.client.CloseIdleConnections)
	return p
}

// send sends a request as the page does, again while the page's pod is being replaced: other tests drain nodes and lose them.
func (p visit) send(t *testing.T, method, path string, body any) *http.Response {
	t.Helper()
	var answer *http.Response
	require.NoError(t, poll(t.Context(), method+" "+path, func() error {
		data, err := json.Marshal(body)
		if err != nil {
			return final{err}
		}
		r, err := http.NewRequestWithContext(t.Context(), method, "https://"+pageHost+path, bytes.NewReader(data))
		if err != nil {
			return final{err}
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Sec-Fetch-Site", p.site)
		if p.token != "" {
			r.Header.Set("Authorization", "Bearer "+p.token)
		}
		if p.cookie != nil {
			r.AddCookie(p.cookie)
		}
		answer, err = p.client.Do(r)
		if err == nil && answer.StatusCode == http.StatusBadGateway {
			_ = answer.Body.Close()
			err = fmt.Errorf("the page doesn't reach the API server")
		}
		return err
	}))
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

// ask returns an answer and its body.
func (p visit) ask(t *testing.T, method, path string, body any) (*http.Response, string) {
	t.Helper()
	answer := p.send(t, method, path, body)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(text)
}

// stream returns what a stream sends until it has sent all that exists.
func (p visit) stream(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, poll(t.Context(), path, func() error {
		all.Reset()
		answer := p.send(t, http.MethodGet, path, nil)
		if answer.StatusCode != http.StatusOK {
			return final{fmt.Errorf("%s: %s", path, answer.Status)}
		}
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			fmt.Fprintln(&all, lines.Text())
			if lines.Text() == "event: synced" {
				return nil
			}
		}
		return fmt.Errorf("it ends before it is synced: %s", all.String())
	}))
	return all.String()
}
