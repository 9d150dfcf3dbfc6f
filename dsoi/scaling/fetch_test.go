package scaling

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
)

const theSecret = "s3cr3t-t0k3n"

func secret(name string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}

// sensesOn has these objects in its cluster.
func sensesOn(objs ...client.Object) *senses {
	c := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(objs...)).Client()
	s := &senses{}
	s.prepare(c, c.Live(), nil, true, 8) // the tests' endpoints are on this machine
	return s
}

func ask(t *testing.T, s *senses, source v1beta1.HTTPSource) (float64, error) {
	t.Helper()
	q := question{namespace: "default", cluster: "kv", node: "storage"}
	return askOne(t, s, asked{q, &v1beta1.Source{External: &source}})
}

func askOne(t *testing.T, s *senses, a asked) (float64, error) {
	t.Helper()
	return s.number(t.Context(), newSecretReader(t.Context(), s.live, a.namespace), a)
}

func served(t *testing.T, answer http.HandlerFunc) string {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func TestANumber(t *testing.T) {
	for answer, want := range map[string]float64{"3": 3, " 1.5\n": 1.5, "1e3": 1000, "1.5e+06": 1.5e6, "0": 0} {
		got, err := ask(t, sensesOn(), v1beta1.HTTPSource{URL: served(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, answer) })})
		require.NoError(t, err, answer)
		assert.Equal(t, want, got)
	}
}

// TestWhatAnEndpointCanDoWrong: each is an error that says what, and tells nothing of the Secret that the endpoint got.
func TestWhatAnEndpointCanDoWrong(t *testing.T) {
	elsewhere := atomic.Int32{}
	other := served(t, func(w http.ResponseWriter, r *http.Request) { elsewhere.Add(1); fmt.Fprint(w, "3") })
	tests := map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"nonsense":           {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) }, "is no number of 0 or more"},
		"nothing":            {func(http.ResponseWriter, *http.Request) {}, "the answer of 0 bytes is no number"},
		"two numbers":        {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1 2") }, "is no number"},
		"not a number":       {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "NaN") }, "is no number"},
		"infinity":           {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "+Inf") }, "is no number"},
		"too large a number": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1e999") }, "is no number"},
		"a negative number":  {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "-1") }, "is no number"},
		"hexadecimal":        {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "0x10") }, "is no number"},
		"an error": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, r.Header.Get("Authorization"), http.StatusInternalServerError)
		}, "the status 500; want 200"},
		"no content":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "the status 204; want 200"},
		"huge":         {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat("1", 1<<20)) }, "more than 65536 bytes"},
		"huge headers": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("1", 1<<20)) }, "the connection broke off"},
		"slow":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no answer within 1s"},
		"slow in the middle": {func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, "1")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, "no answer within 1s"},
		"breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "the connection broke off"},
		"redirects away": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other+"/"+r.Header.Get("Authorization"), http.StatusFound)
		}, "redirects to another scheme, host or port"},
		"redirects to a name": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://"+theSecret+".example.com/", http.StatusTemporaryRedirect)
		}, "redirects to another scheme, host or port"},
		"redirects to https": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://"+r.Host+"/", http.StatusMovedPermanently)
		}, "redirects to another scheme, host or port"},
		"redirects to a file": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		}, "redirects to another scheme, host or port"},
		"redirects in a ring": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/again", http.StatusFound) }, "redirects more than 3 times"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source := v1beta1.HTTPSource{URL: served(t, tt.answer)}
			source.Timeout = "30s"
			if strings.Contains(tt.want, "1s") {
				source.Timeout = "1s"
			}
			source.SecretRef = &v1beta1.SecretName{Name: "auth"}
			_, err := ask(t, sensesOn(secret("auth", map[string]string{"token": theSecret})), source)
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), theSecret)
			assert.Less(t, len(err.Error()), 200)
		})
	}
	t.Cleanup(func() { assert.Zero(t, elsewhere.Load(), "no one else is asked, and so gets no Secret") })
}

func TestARedirectOnTheSameHost(t *testing.T) {
	got, err := ask(t, sensesOn(), v1beta1.HTTPSource{URL: served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/there", http.StatusFound)
			return
		}
		fmt.Fprint(w, "7")
	}) + "/"})
	require.NoError(t, err)
	assert.Equal(t, 7.0, got)
}

// An endpoint can't lead the manager to a URL that isn't allowed. What says so has nothing of that URL.
func TestARedirectToWhatIsNotAllowed(t *testing.T) {
	reached := atomic.Int32{}
	where := served(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/load" {
			http.Redirect(w, r, "/admin/"+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), http.StatusFound)
			return
		}
		reached.Add(1)
		fmt.Fprint(w, "7")
	})
	s := sensesOn(secret("auth", map[string]string{"token": theSecret}))
	s.allow = func(u *url.URL) error {
		if u.Path != "/load" {
			return fmt.Errorf("the path is %q; want /load", u.Path)
		}
		return nil
	}
	source := v1beta1.HTTPSource{URL: where + "/load"}
	source.SecretRef = &v1beta1.SecretName{Name: "auth"}
	_, err := ask(t, s, source)
	assert.EqualError(t, err, "it redirects to a URL that isn't allowed")
	assert.Zero(t, reached.Load())
}

func TestAnEndpointThatIsDown(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	s.Close()
	_, err := ask(t, sensesOn(), v1beta1.HTTPSource{URL: s.URL})
	assert.EqualError(t, err, "it can't be connected to")
	_, err = ask(t, sensesOn(), v1beta1.HTTPSource{URL: "http://there-is-no-such-host.invalid/"})
	assert.EqualError(t, err, "its host name can't be resolved")
	for _, where := range []string{
		"http://169.254.169.254/latest", "http://[fe80::1]/", "http://0.0.0.0/", "http://224.0.0.1/", "http://[fd00:ec2::254]/", "http://[::ffff:169.254.169.254]/",
		"http://[64:ff9b::a9fe:a9fe]/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::a9fe:a9fe]/", "http://[2002:a9fe:a9fe::1]/", "http://168.63.129.16/", "http://100.100.100.200/",
	} {
		_, err = ask(t, sensesOn(), v1beta1.HTTPSource{URL: where})
		assert.Equal(t, errNotHere, err, where)
	}
	careful := sensesOn()
	careful.loopback = false
	for _, where := range []string{"http://127.0.0.1:1/", "http://[::1]:1/", "http://localhost:1/", "http://127.1.2.3:1/", "http://[::ffff:127.0.0.1]:1/"} {
		_, err = ask(t, careful, v1beta1.HTTPSource{URL: where})
		assert.Equal(t, errNotHere, err, where)
	}
	refusing := sensesOn()
	refusing.allow = func(u *url.URL) error { return errors.New("only example.com is allowed") }
	_, err = ask(t, refusing, v1beta1.HTTPSource{URL: "http://a"})
	assert.EqualError(t, err, "only example.com is allowed")
}

// Who owns a name chooses where it leads, so what counts is the address.
func TestAddresses(t *testing.T) {
	refuse := onlyTo(false)
	assert.Equal(t, errNotHere, refuse("tcp", "127.0.0.1:80", nil))
	assert.NoError(t, refuse("tcp", "10.0.0.1:80", nil))
	assert.NoError(t, refuse("tcp", "[64:ff9b::a00:1]:80", nil))
	assert.NoError(t, refuse("tcp", "[2001:db8::1]:80", nil))
	assert.NoError(t, refuse("tcp", "[64:ff9b:1::a00:1]:80", nil))
	for _, where := range []string{"[64:ff9b:1:a9fe:a9:fe00::]:80", "[64:ff9b:1:7f00:0:100::]:80", "[64:ff9b:1::7f00:1]:80", "[64:ff9b:1::]:80", "2130706433:80"} {
		assert.Equal(t, errNotHere, refuse("tcp", where, nil), where)
	}
	assert.Error(t, refuse("tcp", "[fe80::1%eth0]:80", nil))
}

func TestURLs(t *testing.T) {
	q := question{"default", "kv", "storage", ""}
	for given, want := range map[string]string{
		"http://h/x":                             "http://h/x?cluster=kv&namespace=default&node=storage",
		"http://h/x?a=b":                         "http://h/x?a=b&cluster=kv&namespace=default&node=storage",
		"https://h/{namespace}/{cluster}/{node}": "https://h/default/kv/storage",
		"http://{node}.h":                        "http://storage.h",
	} {
		u, err := urlOf(given, q)
		require.NoError(t, err, given)
		assert.Equal(t, want, u.String())
	}
	q.storage = "data"
	u, err := urlOf("http://h", q)
	require.NoError(t, err)
	assert.Equal(t, "data", u.Query().Get("storage"))
	for given, want := range map[string]string{
		"h/x": "begins with", "ftp://h": "want http or https", "http:///x": "has no host", "http://u:p@h/": "has a user in it", "http://h:x:y": "can't be read", "": "want http",
	} {
		err := checkURL(given)
		assert.ErrorContains(t, err, want, given)
		assert.NotContains(t, fmt.Sprint(err), "u:p")
	}
}

func TestWhoIsAsking(t *testing.T) {
	var seen *http.Request
	where := served(t, func(w http.ResponseWriter, r *http.Request) { seen = r; fmt.Fprint(w, "1") })
	source := v1beta1.HTTPSource{URL: where}
	source.SecretRef = &v1beta1.SecretName{Name: "auth"}
	cluster := sensesOn(secret("auth", map[string]string{"token": theSecret + "\n"}), secret("basic", map[string]string{"username": "u", "password": "p"}),
		secret("empty", nil), secret("lines", map[string]string{"token": "a\nb"}))
	_, err := ask(t, cluster, source)
	require.NoError(t, err)
	assert.Equal(t, "Bearer "+theSecret, seen.Header.Get("Authorization"))
	assert.Equal(t, "storage", seen.URL.Query().Get("node"))

	source.SecretRef.Name = "basic"
	_, err = ask(t, cluster, source)
	require.NoError(t, err)
	user, password, _ := seen.BasicAuth()
	assert.Equal(t, "u p", user+" "+password)

	for name, want := range map[string]string{"empty": "neither token nor username", "lines": "more than one line", "gone": "there is no Secret gone"} {
		source.SecretRef.Name = name
		_, err = ask(t, cluster, source)
		assert.ErrorContains(t, err, want)
	}
}

func TestTLS(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "4") }))
	s.Config.ErrorLog = nil
	t.Cleanup(s.Close)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	cluster := sensesOn(secret("ca", map[string]string{"ca.crt": authority}), secret("none", nil), secret("bad", map[string]string{"ca.crt": "x"}),
		secret("half", map[string]string{"tls.crt": authority}))
	source := v1beta1.HTTPSource{URL: s.URL}
	source.Timeout = "30s"
	_, err := ask(t, cluster, source)
	assert.EqualError(t, err, "its certificate isn't trusted, or it speaks no TLS")

	source.TLS = &v1beta1.TLS{SecretRef: &v1beta1.SecretName{Name: "ca"}}
	got, err := ask(t, cluster, source)
	require.NoError(t, err)
	assert.Equal(t, 4.0, got)

	source.TLS.ServerName = "another.example.org"
	_, err = ask(t, cluster, source)
	assert.EqualError(t, err, "its certificate isn't trusted, or it speaks no TLS")
	for name, want := range map[string]string{"none": "neither ca.crt nor tls.crt", "bad": "no certificate in PEM form", "half": "no pair"} {
		source.TLS.SecretRef.Name = name
		_, err = ask(t, cluster, source)
		assert.ErrorContains(t, err, want)
	}
}

// A thousand sources can name one Secret with a thousand authorities.
func TestCertificatesAreParsedOnce(t *testing.T) {
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	secrets := newSecretReader(t.Context(), sensesOn(secret("ca", map[string]string{"ca.crt": authority})).live, "default")
	var found []credentials
	for _, server := range []string{"a.example.org", "b.example.org"} {
		c, err := credentialsOf(secrets, &v1beta1.HTTPAccess{TLS: &v1beta1.TLS{ServerName: server, SecretRef: &v1beta1.SecretName{Name: "ca"}}})
		require.NoError(t, err)
		assert.Equal(t, server, c.tls.ServerName)
		found = append(found, c)
	}
	assert.Same(t, found[0].tls.RootCAs, found[1].tls.RootCAs)
}

func TestPrometheus(t *testing.T) {
	var query string
	answer := ""
	where := served(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/prefix/api/v1/query", r.URL.Path)
		query = r.URL.Query().Get("query")
		fmt.Fprint(w, answer)
	})
	source := &v1beta1.Source{Prometheus: &v1beta1.PrometheusSource{URL: where + "/prefix/", Query: `avg(load{node="{node}",cluster="{cluster}"})`}}
	tests := map[string]struct {
		answer string
		value  float64
		want   string
	}{
		"a vector":        {`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":"b"},"value":[1700000000.1,"1.5e+02"]}]}}`, 150, ""},
		"a scalar":        {`{"status":"success","data":{"resultType":"scalar","result":[1700000000,"7"]}}`, 7, ""},
		"no result":       {`{"status":"success","data":{"resultType":"vector","result":[]}}`, 0, "the query has 0 results"},
		"several results": {`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"1"]},{"value":[1,"2"]}]}}`, 0, "the query has 2 results; want one number"},
		"not a number":    {`{"status":"success","data":{"resultType":"scalar","result":[1,"NaN"]}}`, 0, "is no number"},
		"a matrix":        {`{"status":"success","data":{"resultType":"matrix","result":[]}}`, 0, "neither a scalar nor a vector"},
		"an error":        {`{"status":"error","errorType":"bad_data","error":"oops"}`, 0, "not that of a query that succeeded"},
		"nonsense":        {`7`, 0, "not that of a query that succeeded"},
		"another value":   {`{"status":"success","data":{"resultType":"scalar","result":[1,2]}}`, 0, "has no value"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			answer = tt.answer
			got, err := askOne(t, sensesOn(), asked{question{"default", "kv", "storage", ""}, source})
			if tt.want == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, tt.want)
			}
			assert.Equal(t, tt.value, got)
			assert.Equal(t, `avg(load{node="storage",cluster="kv"})`, query)
		})
	}
}

func TestANumberIsParsedOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-+0-9.eExXinfNa_ ]{0,12}`)).Draw(t, "text")
		value, err := parseNumber(text)
		if err == nil {
			assert.GreaterOrEqual(t, value, 0.0)
			assert.LessOrEqual(t, value, math.MaxFloat64)
			assert.Regexp(t, `^[0-9]`, strings.TrimSpace(text))
		} else {
			assert.Zero(t, value)
		}
	})
}

// TestAskingEndsWithItsContext: a manager that stops doesn't wait for slow endpoints.
func TestAskingEndsWithItsContext(t *testing.T) {
	where := served(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	source := &v1beta1.Source{External: &v1beta1.HTTPSource{URL: where}}
	source.External.Timeout = "30s"
	all := map[about]asked{}
	for i := range 20 {
		all[about{entry: fmt.Sprint(i)}] = asked{question{}, source}
	}
	_, err := sensesOn().ask(ctx, "default", all)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}
