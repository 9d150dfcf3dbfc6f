package manager

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/integration/internal/binary"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

// stuckAt is an API server that doesn't answer to a POST with a text in its body, so that a pass is known to be under way.
type stuckAt struct {
	kubeconfig string
	reached    chan struct{} // closed when there was such a request
}

func newStuckAt(t *testing.T, text string) stuckAt {
	t.Helper()
	config := testcluster.Config(t)
	target, err := url.Parse(config.Host)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport, err = rest.TransportFor(config)
	require.NoError(t, err)
	proxy.FlushInterval = -1 // watches
	s := stuckAt{filepath.Join(t.TempDir(), "kubeconfig"), make(chan struct{})}
	reached := sync.OnceFunc(func() { close(s.reached) })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			if bytes.Contains(body, []byte(text)) {
				reached()
				<-r.Context().Done() // until the client is gone
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.Clusters["stuck"] = &clientcmdapi.Cluster{Server: server.URL}
	kubeconfig.Contexts["stuck"] = &clientcmdapi.Context{Cluster: "stuck"}
	kubeconfig.CurrentContext = "stuck"
	require.NoError(t, clientcmd.WriteToFile(*kubeconfig, s.kubeconfig))
	return s
}

// A manager that is killed during a pass over one object leaves a record of that. The next one puts this object off, says so, works on
// all others at once, and comes back to it.
func TestAKilledManagerPutsOffWhatItWorkedOn(t *testing.T) {
	p := harness.Connect(t, "JobFlow", 90*time.Second, "config/crd", v1alpha1.AddToScheme)
	api, state := newStuckAt(t, "bad-a"), filepath.Join(t.TempDir(), "state")
	start := func(kubeconfig string) *binary.Process {
		return binary.Start(t, "manager", "--kubeconfig", kubeconfig, "--watch-namespaces", p.Namespace, "--state-dir", state,
			"--metrics-bind-address=0", "--health-probe-bind-address=0", "--leader-elect=false")
	}
	flow := func(name string) *v1alpha1.JobFlow {
		return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: name},
			Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{node("a", "true")}}}
	}
	bad, good := flow("bad"), flow("good")
	first := start(api.kubeconfig)
	require.NoError(t, p.Client.Create(t.Context(), bad))
	select {
	case <-api.reached:
	case <-time.After(p.Patience):
		require.FailNow(t, "no Job of the flow is created")
	}
	first.Kill()
	require.NoError(t, p.Client.Create(t.Context(), good))

	restarted := time.Now()
	start(testcluster.Kubeconfig(t))
	var quarantined metav1.Condition
	p.Eventually("the flow is put off", func() bool {
		p.Get("bad", bad)
		c := meta.FindStatusCondition(bad.Status.Conditions, events.ConditionReady)
		if c == nil || c.Reason != events.ReasonQuarantined {
			return false
		}
		quarantined = *c
		return true
	}, func() any { return bad.Status })
	assert.Equal(t, metav1.ConditionFalse, quarantined.Status)
	assert.Contains(t, quarantined.Message, "the manager ended unexpectedly once while it worked on this object")
	p.OneEvent("bad", events.ReasonQuarantined)

	p.Eventually("the other flow has its Job", func() bool {
		return p.Client.Get(t.Context(), client.ObjectKey{Namespace: p.Namespace, Name: "good-a"}, &batchv1.Job{}) == nil
	})
	p.Eventually("the flow that was put off succeeds", func() bool {
		p.Get("bad", bad)
		return bad.Status.State == v1alpha1.StateSucceed
	}, func() any { return bad.Status })
	var ofGood, ofBad batchv1.Job
	p.Get("good-a", &ofGood)
	p.Get("bad-a", &ofBad)
	assert.Greater(t, ofBad.CreationTimestamp.Sub(restarted), 9*time.Second, "it is put off for 10 s, and times in the API are whole seconds")
	assert.True(t, ofGood.CreationTimestamp.Before(&ofBad.CreationTimestamp), "no other flow waits for it")
	c := meta.FindStatusCondition(bad.Status.Conditions, events.ConditionReady)
	require.NotNil(t, c)
	assert.NotEqual(t, events.ReasonQuarantined, c.Reason)
}
