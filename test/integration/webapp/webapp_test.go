// Package webapp_test runs the example operator on a real API server, and its web servers on local nodes.
package webapp_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder"
	v1 "github.com/armature-dev/armature/examples/webapp/api/v1"
	"github.com/armature-dev/armature/examples/webapp/operator"
	web "github.com/armature-dev/armature/examples/webapp/server"
	"github.com/armature-dev/armature/test/testcluster"
)

const (
	patience  = 60 * time.Second
	pollEvery = 50 * time.Millisecond
)

// TestMain lets this binary be the web server as well: it is the command of the pods, as any machine has it.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := web.Run(ctrl.SetupSignalHandler()); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(testcluster.Run(m, testcluster.WithNodes("node-1")))
}

// world is a running operator and an app in a namespace.
type world struct {
	*testing.T
	client client.Client
	app    *v1.WebApp
}

func newWorld(t *testing.T, spec v1.WebAppSpec) *world {
	testcluster.InstallCRDs(t, "examples/webapp/config")
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	c, err := client.New(testcluster.Config(t), client.Options{Scheme: scheme})
	require.NoError(t, err)
	app := &v1.WebApp{ObjectMeta: metav1.ObjectMeta{Namespace: testcluster.Namespace(t), Name: "hello"}, Spec: spec}
	require.NoError(t, c.Create(t.Context(), app))

	mgr, err := ctrl.NewManager(testcluster.Config(t), ctrl.Options{
		Scheme: scheme, Metrics: server.Options{BindAddress: "0"},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}},
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	require.NoError(t, err)
	require.NoError(t, operator.Setup(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
	})
	return &world{T: t, client: c, app: app}
}

func (w *world) key() client.ObjectKey { return client.ObjectKeyFromObject(w.app) }

func (w *world) eventually(what string, done func() bool) {
	w.Helper()
	require.Eventually(w, done, patience, pollEvery, what)
}

func (w *world) change(change func(*v1.WebApp)) {
	w.eventually("the change", func() bool {
		require.NoError(w, w.client.Get(w.Context(), w.key(), w.app))
		change(w.app)
		return w.client.Update(w.Context(), w.app) == nil
	})
}

func (w *world) ready() bool {
	require.NoError(w, w.client.Get(w.Context(), w.key(), w.app))
	c := meta.FindStatusCondition(w.app.Status.Conditions, builder.ConditionReady)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == w.app.Generation
}

func (w *world) exists(obj client.Object) bool {
	err := w.client.Get(w.Context(), w.key(), obj)
	if !apierrors.IsNotFound(err) {
		require.NoError(w, err)
	}
	return err == nil && obj.GetDeletionTimestamp() == nil
}

// answers asks all running servers and returns how many greet like this.
func (w *world) answers(greeting string) int {
	var pods corev1.PodList
	require.NoError(w, w.client.List(w.Context(), &pods, client.InNamespace(w.app.Namespace)))
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
	w.eventually("the app to be ready", w.ready)
	require.Equal(t, int32(1), w.app.Status.ReadyReplicas)
	w.eventually("the greeting", func() bool { return w.answers("Hello") == 1 })
	require.True(t, w.exists(&corev1.Service{}))
	require.False(t, w.exists(&policyv1.PodDisruptionBudget{}), "a single server has no budget")

	deployment := &appsv1.Deployment{}
	require.True(t, w.exists(deployment))
	w.change(func(app *v1.WebApp) { app.Spec.Greeting = "Ahoy" })
	w.eventually("the new greeting", func() bool { return w.answers("Ahoy") == 1 })
	generation := deployment.Generation
	require.True(t, w.exists(deployment))
	require.Equal(t, generation, deployment.Generation, "no restart")

	require.NoError(t, w.client.Delete(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.app.Namespace, Name: w.app.Name}}))
	w.eventually("the service to come back", func() bool { return w.exists(&corev1.Service{}) })

	w.change(func(app *v1.WebApp) { app.Spec.Replicas = ptr.To[int32](0) })
	w.eventually("the servers to go", func() bool { return w.ready() && w.app.Status.ReadyReplicas == 0 })
}

func TestBudgetComesAndGoes(t *testing.T) {
	w := newWorld(t, v1.WebAppSpec{Image: "none", Command: []string{"sleep", "600"}, Replicas: ptr.To[int32](2)})
	w.eventually("the budget", func() bool { return w.exists(&policyv1.PodDisruptionBudget{}) })
	require.False(t, w.ready(), "nothing answers")
	w.change(func(app *v1.WebApp) { app.Spec.Replicas = ptr.To[int32](1) })
	w.eventually("the budget to be pruned", func() bool { return !w.exists(&policyv1.PodDisruptionBudget{}) })
	require.True(t, w.exists(&corev1.ConfigMap{}))
}
