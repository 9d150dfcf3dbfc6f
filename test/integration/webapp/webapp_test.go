// Package webapp_test runs the example operator on a real API server, and its web servers on local nodes.
package webapp_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/events"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
	"github.com/armature-dev/armature/examples/webapp/operator"
	web "github.com/armature-dev/armature/examples/webapp/server"
	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 60 * time.Second

// TestMain lets this binary be the web server as well: it is the command of the pods.
func TestMain(m *testing.M) {
	os.Exit(harness.RunTestsOr(m, "serve", web.Run, testcluster.WithNodes("node-1")))
}

// world is a running operator and an app in a namespace.
type world struct {
	*harness.Place
	app *v1.WebApp
}

func newWorld(t *testing.T, spec v1.WebAppSpec) *world {
	t.Helper()
	p := harness.Connect(t, "WebApp", patience, "examples/webapp/config", v1.AddToScheme)
	app := &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: "hello"}, Spec: spec}
	require.NoError(t, p.Client.Create(t.Context(), app))
	options := p.Options()
	options.Cache.DefaultNamespaces = nil
	mgr := p.NewManager(testcluster.Config(t), options)
	require.NoError(t, operator.Setup(mgr))
	p.Start(mgr)
	return &world{p, app}
}

func (w *world) key() client.ObjectKey { return client.ObjectKeyFromObject(w.app) }

func (w *world) change(change func(*v1.WebApp)) {
	w.Eventually("the change", func() bool {
		require.NoError(w.T, w.Client.Get(w.T.Context(), w.key(), w.app))
		change(w.app)
		return w.Client.Update(w.T.Context(), w.app) == nil
	})
}

func (w *world) ready() bool {
	require.NoError(w.T, w.Client.Get(w.T.Context(), w.key(), w.app))
	c := meta.FindStatusCondition(w.app.Status.Conditions, events.ConditionReady)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == w.app.Generation
}

func (w *world) exists(obj client.Object) bool {
	err := w.Client.Get(w.T.Context(), w.key(), obj)
	if !apierrors.IsNotFound(err) {
		require.NoError(w.T, err)
	}
	return err == nil && obj.GetDeletionTimestamp() == nil
}

// answers asks all running servers and returns how many greet like this.
func (w *world) answers(greeting string) int {
	var pods corev1.PodList
	require.NoError(w.T, w.Client.List(w.T.Context(), &pods, client.InNamespace(w.Namespace)))
	n := 0
	for _, p := range pods.Items {
		response, err := http.Get(fmt.Sprintf("http://%s", net.JoinHostPort(p.Status.PodIP, strconv.Itoa(web.Port))))
		if err != nil {
			continue
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if strings.HasPrefix(string(body), greeting+" from hello-") {
			n++
		}
	}
	return n
}

func TestWebApp(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	w := newWorld(t, v1.WebAppSpec{Image: "none", Command: []string{self, "serve"}, Greeting: "Hello"})
	w.Eventually("the app to be ready", w.ready)
	require.Equal(t, int32(1), w.app.Status.ReadyReplicas)
	w.Eventually("the greeting", func() bool { return w.answers("Hello") == 1 })
	require.True(t, w.exists(&corev1.Service{}))
	require.False(t, w.exists(&policyv1.PodDisruptionBudget{}), "a single server has no budget")

	deployment := &appsv1.Deployment{}
	require.True(t, w.exists(deployment))
	w.change(func(app *v1.WebApp) { app.Spec.Greeting = "Ahoy" })
	w.Eventually("the new greeting", func() bool { return w.answers("Ahoy") == 1 })
	generation := deployment.Generation
	require.True(t, w.exists(deployment))
	require.Equal(t, generation, deployment.Generation, "no restart")

	require.NoError(t, w.Client.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.app.Namespace, Name: w.app.Name}}))
	w.Eventually("the service to come back", func() bool { return w.exists(&corev1.Service{}) })

	w.change(func(app *v1.WebApp) { app.Spec.Replicas = ptr.To[int32](0) })
	w.Eventually("the servers to go", func() bool { return w.ready() && w.app.Status.ReadyReplicas == 0 })
}

func TestBudgetComesAndGoes(t *testing.T) {
	w := newWorld(t, v1.WebAppSpec{Image: "none", Command: []string{"sleep", "600"}, Replicas: ptr.To[int32](2)})
	w.Eventually("the budget", func() bool { return w.exists(&policyv1.PodDisruptionBudget{}) })
	require.False(t, w.ready(), "nothing answers")
	w.change(func(app *v1.WebApp) { app.Spec.Replicas = ptr.To[int32](1) })
	w.Eventually("the budget to be pruned", func() bool { return !w.exists(&policyv1.PodDisruptionBudget{}) })
	require.True(t, w.exists(&corev1.ConfigMap{}))
}
