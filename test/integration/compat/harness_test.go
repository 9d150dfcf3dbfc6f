package compat

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/test/integration/internal/harness"
	"github.com/armature-dev/armature/test/testcluster"
)

const patience = 60 * time.Second

// place is a test's namespace, with an operator in it whose requests are counted.
type place struct {
	t         *testing.T
	namespace string
	client    client.Client // the test's own
	operator  *clusterReconciler
	events    *record.FakeRecorder

	mu       sync.Mutex
	requests map[string]int // the operator's, by method
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{t: t, namespace: testcluster.Namespace(t), events: record.NewFakeRecorder(100), requests: map[string]int{}}
	p.client = p.newClient(nil)
	p.operator = &clusterReconciler{Client: p.newClient(p.count), Recorder: p.events}
	return p
}

func (p *place) newClient(wrap func(http.RoundTripper) http.RoundTripper) client.Client {
	p.t.Helper()
	config := testcluster.Config(p.t)
	config.QPS = -1
	if wrap != nil {
		config.Wrap(wrap)
	}
	c, err := client.New(config, client.Options{Scheme: clientgoscheme.Scheme})
	require.NoError(p.t, err)
	return c
}

func (p *place) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			p.mu.Lock()
			p.requests[r.Method]++
			p.mu.Unlock()
		}
		return next.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// writes returns how many objects but events the operator wrote, since it was last called.
func (p *place) writes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for method, count := range p.requests {
		if method != http.MethodGet {
			n += count
		}
	}
	p.requests = map[string]int{}
	return n
}

// cr makes, or changes, the owner.
func (p *place) cr(name string, data map[string]string) *corev1.ConfigMap {
	p.t.Helper()
	cr := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: name}}
	if p.exists(cr, name) {
		cr.Data = data
		require.NoError(p.t, p.client.Update(p.t.Context(), cr))
		return cr
	}
	cr.Data = data
	require.NoError(p.t, p.client.Create(p.t.Context(), cr))
	return cr
}

func (p *place) reconcile(cr *corev1.ConfigMap) {
	p.t.Helper()
	p.pass(func() error { return p.operator.do(p.t.Context(), cr) })
}

// pass makes a pass, again after a conflict with a controller's write, as a manager does.
func (p *place) pass(do func() error) {
	p.t.Helper()
	p.eventually("a pass without a conflict", func() bool {
		err := do()
		if apierrors.IsConflict(err) {
			return false
		}
		require.NoError(p.t, err)
		return true
	})
}

func (p *place) exists(obj client.Object, name string) bool {
	p.t.Helper()
	err := p.client.Get(context.Background(), client.ObjectKey{Namespace: p.namespace, Name: name}, obj)
	require.NoError(p.t, client.IgnoreNotFound(err))
	return err == nil
}

// get reads an object that must exist.
func get[T client.Object](p *place, obj T, name string) T {
	p.t.Helper()
	require.True(p.t, p.exists(obj, name), "%T %s doesn't exist", obj, name)
	return obj
}

// change edits an object behind the operator's back.
func change[T client.Object](p *place, obj T, name string, edit func(T)) {
	p.t.Helper()
	get(p, obj, name)
	before := obj.DeepCopyObject().(client.Object)
	edit(obj)
	require.NoError(p.t, p.client.Patch(p.t.Context(), obj, client.MergeFrom(before), client.FieldOwner("someone-else")))
}

func (p *place) eventually(what string, done func() bool) {
	p.t.Helper()
	harness.Eventually(p.t, patience, what, done)
}

// pods returns the names of the pods of a node that are ready and not going, by a variable of their environment.
func (p *place) pods(cr, node, variable string) map[string][]string {
	p.t.Helper()
	var list corev1.PodList
	require.NoError(p.t, p.client.List(p.t.Context(), &list, client.InNamespace(p.namespace),
		client.MatchingLabels{"custom_resource": cr, "node": node}))
	pods := map[string][]string{}
	for _, pod := range list.Items {
		for _, c := range pod.Status.Conditions {
			if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && pod.DeletionTimestamp == nil {
				value := variableOf(pod.Spec, variable)
				pods[value] = append(pods[value], pod.Name)
			}
		}
	}
	return pods
}

// awaitRollout waits until the cluster's controllers have nothing more to write to the workloads of a cr of twoNodes.
func (p *place) awaitRollout(cr string) {
	p.t.Helper()
	p.eventually("the cluster's controllers to be done", func() bool {
		web, db := get(p, &appsv1.Deployment{}, cr+"-web"), get(p, &appsv1.StatefulSet{}, cr+"-db")
		return web.Status.AvailableReplicas == 2 && db.Status.AvailableReplicas == 2 &&
			db.Status.CurrentRevision == db.Status.UpdateRevision
	})
}

func variableOf(spec corev1.PodSpec, name string) string {
	for _, e := range spec.Containers[0].Env {
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}
