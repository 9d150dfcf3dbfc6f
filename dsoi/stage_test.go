package dsoi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/events"
)

// stage is a town in a simulated cluster, and its operator, whose passes the test runs one by one. Pods of the image "bad" crash.
type stage struct {
	*testing.T
	server     *buildertest.Server
	cluster    *world.World
	ours       *buildertest.Client
	others     *buildertest.Client
	reconciler reconcile.Reconciler
}

// withoutDelay makes pods count as available as soon as they are ready, so that only the test moves the clock.
func withoutDelay(o *Town) *Town {
	for i := range o.Spec.K8sConfigGroup {
		o.Spec.K8sConfigGroup[i].MinReadySeconds = new(int32(0))
	}
	return o
}

var exitsAtOnce = world.Script{Ends: true, ExitCode: 1}

var townRequest = reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "t"}}

var withTowns = buildertest.WithStatusSubresource(&Town{}, &TownScaling{})

func newTown(t testing.TB, spec string) *Town {
	o := town(t, spec)
	o.Generation = 0
	return o
}

func perform(t *testing.T, spec string, objs ...client.Object) *stage {
	t.Helper()
	objs = append(objs, withoutDelay(newTown(t, spec)), world.Node("n1"))
	s := &stage{T: t, server: buildertest.NewServer(townScheme(), withTowns, buildertest.WithObjects(objs...))}
	s.ours, s.others = s.server.Client("operator"), s.server.Client("others")
	s.cluster = world.New(s.server, world.Options{Pods: func(pod *corev1.Pod) world.Script {
		if pod.Spec.Containers[0].Image == "bad" {
			return exitsAtOnce
		}
		return world.Script{}
	}})
	s.restart()
	return s
}

func (s *stage) restart() {
	var err error
	s.reconciler, err = buildertest.NewReconciler(theApp().Operator(nil), s.ours, s.ours.Now)
	require.NoError(s, err)
}

// pass runs one pass and returns what it wrote, but for the town's status.
func (s *stage) pass() (writes []string) {
	s.Helper()
	s.ours.Ledger().Reset()
	_, err := s.reconciler.Reconcile(s.Context(), townRequest)
	require.NoError(s, err)
	s.checkStatus()
	for _, c := range s.ours.Ledger().Writes() {
		if c.Subresource != "status" {
			writes = append(writes, c.String())
		}
	}
	return writes
}

// checkStatus holds what is so after every pass: who waits for the condition Ready finds the rest of the status as it is
// then.
func (s *stage) checkStatus() {
	s.Helper()
	status := s.town().Status
	if !meta.IsStatusConditionTrue(status.Conditions, events.ConditionReady) {
		return
	}
	require.Equal(s, v1beta1.ClusterRunning, status.Phase)
	require.NotEmpty(s, status.Revision)
	for _, t := range status.NodeTypes {
		require.Equal(s, v1beta1.NodeTypeReady, t.State, t.Name)
		require.Equal(s, t.Desired, t.Ready, t.Name)
	}
	if status.Upgrade != nil {
		require.NotNil(s, status.Upgrade.FinishedAt)
		require.NotEmpty(s, status.Upgrade.Duration)
	}
}

// workloads returns those of the writes that are to workloads.
func workloads(writes []string) (names []string) {
	for _, w := range writes {
		if strings.Contains(w, "Set.apps ") || strings.Contains(w, "Deployment.apps ") {
			names = append(names, w[strings.LastIndex(w, "/")+1:])
		}
	}
	return names
}

// settle lets all workloads become ready, and runs passes until nothing is written any more.
func (s *stage) settle() {
	s.Helper()
	for range 20 {
		s.rollOut()
		if writes := s.pass(); len(writes) == 0 {
			s.pass()
			return
		}
	}
	require.Fail(s, "it does not settle")
}

// rollOut lets the cluster act until it rests: on the pods of workloads by name, or on everything.
func (s *stage) rollOut(names ...string) {
	s.Helper()
	require.NoError(s, s.cluster.SettleOnly(s.Context(), func(step world.Step) bool {
		about := func(name string) bool { return strings.Contains(step.Name, name) }
		return len(names) == 0 || slices.ContainsFunc(names, about)
	}))
}

func (s *stage) town() *Town {
	s.Helper()
	return get(s, &Town{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t"}})
}

// describe gives the town another spec.
func (s *stage) describe(spec string) {
	s.Helper()
	o := s.town()
	o.Spec = TownSpec{}
	require.NoError(s, yaml.Unmarshal([]byte(spec), &o.Spec))
	require.NoError(s, s.others.Update(s.Context(), withoutDelay(o)))
}

func (s *stage) condition(kind string) metav1.Condition {
	s.Helper()
	c := meta.FindStatusCondition(s.town().Status.Conditions, kind)
	require.NotNil(s, c)
	return *c
}

func (s *stage) set(name string) *appsv1.StatefulSet {
	s.Helper()
	return get(s, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
}

func (s *stage) image(set string) string {
	s.Helper()
	return s.set(set).Spec.Template.Spec.Containers[0].Image
}

func (s *stage) step(d time.Duration) { s.server.Clock().Step(d) }

func get[T client.Object](s *stage, obj T) T {
	s.Helper()
	require.NoError(s, s.others.Get(s.Context(), client.ObjectKeyFromObject(obj), obj))
	return obj
}

func (s *stage) exists(obj client.Object) bool {
	s.Helper()
	obj.SetNamespace("default")
	err := s.others.Get(s.Context(), client.ObjectKeyFromObject(obj), obj)
	require.NoError(s, client.IgnoreNotFound(err))
	return err == nil
}
