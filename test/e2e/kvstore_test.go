//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/events"
	kvv1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/store"
)

// kvWorkloads are the workloads of the example's node types, in the order in which they are to be upgraded.
var kvWorkloads = []string{"deployments.apps demo-coordinator", "statefulsets.apps demo-storage", "deployments.apps demo-gateway"}

// The life of a distributed store: install, an upgrade in order, images that can't run, scaling, removal. It is read all the
// time, and no read is lost.
func TestExampleStore(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.operate("kvstore", "kvstore:v1")
	s.apply("kvstore/rbac.yaml")
	s.makeStore(s.volumes(5))
	s.storeIs(v1beta1.ClusterRunning)
	kv := store.NewClient(cluster, s.name, "demo")
	kv.Patience = 2 * time.Minute // a busy machine may stop all gateways for longer than people wait
	require.NoError(t, kv.Put(t.Context(), "greeting", "Ahoy"))
	stop := readAllTheTime(t, kv, "greeting", "Ahoy")

	installed := s.storeVersion()
	s.changeStore(func(demo *kvv1.KVStore) {
		demo.Spec.AppConfigGroup[0].CommonRuntimeProperties = "replicas=2\nmotto=ahoy\n"
	})
	s.eventually("the upgrade to begin", func() error {
		if s.demo().Status.Upgrade == nil {
			return errors.New("it has not")
		}
		return nil
	})
	s.storeIs(v1beta1.ClusterRunning)
	s.requireRolledOutInOrder(installed, kvWorkloads)
	for _, kind := range store.Types {
		var mottos []string
		s.eventually("the configuration of "+kind, func() (err error) {
			mottos, err = kv.Config(t.Context(), kind, "motto")
			return err
		})
		require.NotEmpty(t, mottos)
		for _, motto := range mottos {
			assert.Equal(t, "ahoy", motto, kind)
		}
	}

	// A program that ends at once, and then an image that there isn't: both halt the upgrade before the gateways.
	mended := s.storeVersion()
	for _, bad := range []struct{ image, why string }{
		{"busybox:1.28", `node storage: pod demo-storage-2: container storage: .*exit code 127`},
		{"kvstore:absent", `node storage: pod demo-storage-2: container storage: ImagePullBackOff: the image "kvstore:absent" can't be pulled`},
	} {
		s.changeStore(func(demo *kvv1.KVStore) {
			kvGroup(demo, "data").Image, kvGroup(demo, "front").Image = bad.image, "kvstore:v2"
		})
		s.storeIs(v1beta1.ClusterHalted)
		s.stalledBecause(bad.why)
		assert.Equal(t, "kvstore:v1", s.kubectl("get", "deployment/demo-gateway", "--output=jsonpath={.spec.template.spec.containers[0].image}"))
		assert.Equal(t, "kvstore:v1", s.kubectl("get", "pod/demo-storage-0", "--output=jsonpath={.spec.containers[0].image}"))
	}
	s.changeStore(func(demo *kvv1.KVStore) { kvGroup(demo, "data").Image = "kvstore:v2" })
	s.storeIs(v1beta1.ClusterRunning)
	s.requireRolledOutInOrder(mended, kvWorkloads[1:])

	// The coordinator is asked by the name of its Service how much there is to do, and storage nodes are added.
	s.applyWith("kvstore/scaling.yaml", "COORDINATOR", "demo-coordinator."+s.name, "threshold: 100", `threshold: "0.5"`)
	s.is("statefulset/demo-storage", "{.status.readyReplicas}", "5")
	s.storeIs(v1beta1.ClusterRunning)
	assert.Greater(t, stop(), 100, "reads")
	// Without load the same Scaling takes them away again.
	s.is("statefulset/demo-storage", "{.status.replicas}", "3")
	greeting, found, err := kv.Get(t.Context(), "greeting")
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, "Ahoy", greeting)

	// It goes, but for its data.
	s.kubectl("delete", "kvstorescaling/demo", "kvstore/demo", "--cascade=foreground", "--timeout=300s")
	s.is("persistentvolumeclaim/data-demo-storage-0", "{.status.phase}", "Bound")
}

// readAllTheTime reads a value again and again, until it is told to stop, which returns how often. A read may be late on a
// machine that is busy; none may find another value, and none may fail for as long as the client is patient.
func readAllTheTime(t *testing.T, kv *store.Client, key, want string) (stop func() (reads int)) {
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan int, 1)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			value, found, err := kv.Get(ctx, key)
			if ctx.Err() != nil {
				break
			}
			if !assert.NoError(t, err) || !assert.True(t, found && value == want, "%s is %q (found: %t)", key, value, found) {
				cancel()
			}
		}
		read <- n
	}()
	return func() int {
		cancel()
		return <-read
	}
}

// makeStore makes the example's store as it is, but for what is of this cluster: its class of volumes, the label of its
// nodes, and a Service for the coordinator, since there is DNS.
func (s *space) makeStore(class string) {
	s.Helper()
	applied.Store("kvstore/sample.yaml", true)
	text, err := os.ReadFile(filepath.Join(root, "examples", "kvstore", "sample.yaml"))
	require.NoError(s, err)
	demo := &kvv1.KVStore{}
	require.NoError(s, yaml.UnmarshalStrict(text, demo))
	demo.Namespace = s.name
	for i := range demo.Spec.K8sConfigGroup {
		demo.Spec.K8sConfigGroup[i].NodeSelector = map[string]string{"devcluster.armature.dev/container": "true"}
	}
	kvGroup(demo, "data").StorageConfig[0].Spec.StorageClassName = &class
	kvGroup(demo, "small").Service = &corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: store.Port}}}
	require.NoError(s, cluster.Create(s.Context(), demo))
}

func (s *space) demo() *kvv1.KVStore {
	s.Helper()
	demo := &kvv1.KVStore{}
	require.NoError(s, cluster.Get(s.Context(), client.ObjectKey{Namespace: s.name, Name: "demo"}, demo))
	return demo
}

// storeVersion is that of the store's latest write.
func (s *space) storeVersion() uint64 {
	s.Helper()
	version, err := strconv.ParseUint(s.demo().ResourceVersion, 10, 64)
	require.NoError(s, err)
	return version
}

func (s *space) changeStore(change func(*kvv1.KVStore)) {
	s.Helper()
	s.eventually("the change", func() error {
		demo := s.demo()
		change(demo)
		err := cluster.Update(s.Context(), demo)
		if !apierrors.IsConflict(err) {
			require.NoError(s, err)
		}
		return err
	})
}

// storeIs waits until the store is in a phase, for its latest spec. One that runs is Ready.
func (s *space) storeIs(phase v1beta1.ClusterPhase) {
	s.Helper()
	s.eventually("the store to be "+string(phase), func() error {
		demo := s.demo()
		ready := meta.FindStatusCondition(demo.Status.Conditions, events.ConditionReady)
		if ready == nil || demo.Status.ObservedGeneration != demo.Generation || demo.Status.Phase != phase ||
			(ready.Status == metav1.ConditionTrue) != (phase == v1beta1.ClusterRunning) {
			return fmt.Errorf("it is %s; Ready: %+v", demo.Status.Phase, ready)
		}
		return nil
	})
}

// stalledBecause waits until the store says why it halts.
func (s *space) stalledBecause(why string) {
	s.Helper()
	pattern := regexp.MustCompile(why)
	s.eventually("the reason", func() error {
		stalled := meta.FindStatusCondition(s.demo().Status.Conditions, events.ConditionStalled)
		if stalled == nil || stalled.Reason != "RolloutHalted" || !pattern.MatchString(stalled.Message) {
			return fmt.Errorf("Stalled: %+v", stalled)
		}
		return nil
	})
}

// kvGroup returns a Kubernetes config group of the store's.
func kvGroup(demo *kvv1.KVStore, name string) *v1beta1.K8sConfigGroup {
	for i := range demo.Spec.K8sConfigGroup {
		if demo.Spec.K8sConfigGroup[i].Name == name {
			return &demo.Spec.K8sConfigGroup[i]
		}
	}
	return nil
}
