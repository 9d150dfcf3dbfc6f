package manager

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
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

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/operators/jobflow"
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
// all others at once, and comes back to it. So that the test sees the first three for sure, three managers have been killed before, and
// the object is put off for half an hour. So that it sees the last, only one has, and the object is put off for 10 seconds.
func TestAKilledManagerPutsOffWhatItWorkedOn(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
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
	p.Eventually("a Job of the flow is created", func() bool {
		select {
		case <-api.reached:
			return true
		default:
			return false
		}
	})
	first.Kill()
	require.NoError(t, p.Client.Create(t.Context(), good))

	suspect := func(ends int) time.Time {
		now := time.Now()
		text, err := json.Marshal([]map[string]any{{"Controller": jobflow.Name, "Namespace": p.Namespace, "Name": "bad", "UID": bad.UID, "Ends": ends, "Last": now}})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(state, "suspects"), text, 0o600))
		return now
	}
	suspect(3)
	second := start(testcluster.Kubeconfig(t))
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
	assert.Contains(t, quarantined.Message, "the manager ended unexpectedly 4 times while it worked on this object")
	p.OneEvent("bad", events.ReasonQuarantined)

	p.Eventually("the other flow succeeds", func() bool {
		p.Get("good", good)
		return good.Status.State == v1alpha1.StateSucceed
	}, func() any { return good.Status })
	assert.Equal(t, []string{"good-a"}, p.Jobs())
	second.Stop()

	restarted := suspect(1)
	start(testcluster.Kubeconfig(t))
	p.Eventually("the flow that was put off succeeds", func() bool {
		p.Get("bad", bad)
		return bad.Status.State == v1alpha1.StateSucceed
	}, func() any { return bad.Status })
	var ofBad batchv1.Job
	p.Get("bad-a", &ofBad)
	assert.Greater(t, ofBad.CreationTimestamp.Sub(restarted), 9*time.Second, "it is put off for 10 s, and times in the API are whole seconds")
	c := meta.FindStatusCondition(bad.Status.Conditions, events.ConditionReady)
	require.NotNil(t, c)
	assert.NotEqual(t, events.ReasonQuarantined, c.Reason)
}
