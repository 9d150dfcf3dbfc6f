package dsoi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/dsoi/scaling"
	"github.com/armature-dev/armature/events"
	kv "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
)

// setupBoth is what the example sets up, with leave to ask endpoints on this machine.
func setupBoth(mgr manager.Manager) error {
	if err := operator.App("").Setup(mgr); err != nil {
		return err
	}
	return (&scaling.Controller[*kv.KVStoreScaling]{
		Name: "kvstore-scaling", Cluster: &kv.KVStore{}, Loopback: true,
	}).Setup(mgr)
}

// gauge is an endpoint that says a number, to those who have the token.
type gauge struct {
	url   string
	value atomic.Int64
}

const token = "t0k3n-of-the-gauge"

func newGauge(t *testing.T, value int64) *gauge {
	g := &gauge{}
	g.value.Store(value)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		fmt.Fprintln(w, g.value.Load())
	}))
	t.Cleanup(s.Close)
	g.url = s.URL
	return g
}

func (w *world) replicas() int32 { return *read(w, &appsv1.StatefulSet{}, "x-s").Spec.Replicas }

func (w *world) scale(g *gauge, entry string) {
	require.NoError(w, w.client.Create(w.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "auth"}, StringData: map[string]string{"token": token},
	}))
	w.create(&kv.KVStoreScaling{}, "x", fmt.Sprintf(`
spec:
  interval: 1
  external: {spec: {url: "%s/load", secretRef: {name: auth}}}
  autoscaling: [%s]
`, g.url, entry))
}

func TestScaleByAnEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupBoth)
	x := w.store(w.class(false))
	g := newGauge(t, 100)
	w.scale(g, `{name: s, spec: {minReplica: 1, maxReplica: 4, threshold: 50, coolDown: 1}}`)
	w.eventually("the store to be scaled", func() bool { return w.replicas() == 4 })
	w.eventually("the cluster to see it", func() bool {
		return becomesReady(w, x, "x").Status.NodeTypes[1].Desired == 4 && x.Status.NodeTypes[1].Ready == 4
	})

	// The cluster's controller leaves the number alone, also when it upgrades.
	g.value.Store(50)
	w.image("kv:v2", "data")
	w.eventually("the upgrade", func() bool {
		return becomesReady(w, x, "x").Status.Upgrade != nil && w.running(&appsv1.StatefulSet{}, "x-s") == "kv:v2" && x.Status.Phase == v1beta1.ClusterRunning
	})
	assert.EqualValues(t, 4, w.replicas())

	g.value.Store(0)
	w.eventually("the store to shrink", func() bool { return w.replicas() == 1 })
	w.eventually("both to be told", func() bool { return len(w.toldOf("KVStoreScaling", "Scaled")) >= 2 })
	assert.Empty(t, w.toldOf("KVStoreScaling", events.ReasonApplyFailed), "nothing went wrong")

	s := &kv.KVStoreScaling{}
	require.NoError(t, w.client.Delete(t.Context(), read(w, &corev1.Secret{}, "auth")))
	w.eventually("the missing Secret to be told", func() bool { return is(read(w, s, "x"), events.ConditionReady, metav1.ConditionFalse) })
	assert.Contains(t, meta.FindStatusCondition(s.Status.Conditions, events.ConditionReady).Message, "there is no Secret auth in the namespace")
	require.NoError(t, w.client.Delete(t.Context(), s))
	w.eventually("the spec's number to count again", func() bool { return w.replicas() == 2 })
}

func TestScaleByAResource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupBoth)
	w.store(w.class(false))
	w.create(&kv.KVStoreScaling{}, "x", `{spec: {autoscaling: [{name: s, spec: {min: 2, max: 5, threshold: 80, coolDown: "60s", source: {resource: cpu}}}]}}`)
	hpa := &autoscalingv2.HorizontalPodAutoscaler{}
	w.eventually("the autoscaler", func() bool { return w.exists(hpa, "x-s") })
	assert.EqualValues(t, 80, *hpa.Spec.Metrics[0].Resource.Target.AverageUtilization)
	change(w, &appsv1.StatefulSet{}, "x-s", func(s *appsv1.StatefulSet) { n := int32(3); s.Spec.Replicas = &n }) // as the autoscaler would
	w.image("kv:v2", "data")
	w.eventually("the upgrade", func() bool {
		becomesReady(w, &kv.KVStore{}, "x")
		return w.running(&appsv1.StatefulSet{}, "x-s") == "kv:v2"
	})
	assert.EqualValues(t, 3, w.replicas())
}

func TestVolumesGrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setupBoth)
	w.store(w.class(true))
	g := newGauge(t, 90)
	w.scale(g, `{name: s, storage: [{name: data, threshold: 80, increase: 1Gi, max: 3Gi, coolDown: 1h}]}`)
	size := func(name string) string {
		return read(w, &corev1.PersistentVolumeClaim{}, name).Spec.Resources.Requests.Storage().String()
	}
	w.eventually("the volumes to grow", func() bool { return size("data-x-s-0") == "2Gi" && size("data-x-s-1") == "2Gi" })
	becomesReady(w, &kv.KVStore{}, "x")
	assert.Equal(t, v1beta1.Size("2Gi"), read(w, &kv.KVStoreScaling{}, "x").Status.Nodes[0].Storage[0].Size)
}
