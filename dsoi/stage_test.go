package dsoi

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/events"
)

// stage is a town on an API server in memory, and its operator.
type stage struct {
	*testing.T
	server     *buildertest.Server
	ours       *buildertest.Client
	world      *buildertest.Client
	reconciler reconcile.Reconciler
}

var townRequest = reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "t"}}

var withTowns = buildertest.WithStatusSubresource(&Town{}, &TownScaling{})

func newTown(t testing.TB, spec string) *Town {
	o := town(t, spec)
	o.Generation = 0
	return o
}

func perform(t *testing.T, spec string, objs ...client.Object) *stage {
	t.Helper()
	s := &stage{T: t, server: buildertest.NewServer(townScheme(), withTowns, buildertest.WithObjects(append(objs, newTown(t, spec))...))}
	s.ours, s.world = s.server.Client("operator"), s.server.Client("world")
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

// rollOut lets workloads become ready, by name or all of them. (The pods of a simulated cluster would cost seconds with hundreds of nodes.)
func (s *stage) rollOut(names ...string) {
	s.Helper()
	var sets appsv1.StatefulSetList
	var deployments appsv1.DeploymentList
	var daemons appsv1.DaemonSetList
	var budgets policyv1.PodDisruptionBudgetList
	for _, list := range []client.ObjectList{&sets, &deployments, &daemons, &budgets} {
		require.NoError(s, s.world.List(s.Context(), list))
	}
	var ready []client.Object
	for i := range sets.Items {
		ready = append(ready, readySet(&sets.Items[i]))
	}
	for i := range deployments.Items {
		d := &deployments.Items[i]
		n := ptr.Deref(d.Spec.Replicas, 1)
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: n, UpdatedReplicas: n, ReadyReplicas: n, AvailableReplicas: n}
		ready = append(ready, d)
	}
	for i := range daemons.Items {
		d := &daemons.Items[i]
		d.Status = appsv1.DaemonSetStatus{
			ObservedGeneration: d.Generation, DesiredNumberScheduled: 1, CurrentNumberScheduled: 1, UpdatedNumberScheduled: 1,
			NumberReady: 1, NumberAvailable: 1,
		}
		ready = append(ready, d)
	}
	for i := range budgets.Items {
		budgets.Items[i].Status.ObservedGeneration = budgets.Items[i].Generation
		ready = append(ready, &budgets.Items[i])
	}
	for _, obj := range ready {
		if obj.GetDeletionTimestamp() == nil && (len(names) == 0 || slices.Contains(names, obj.GetName())) {
			require.NoError(s, s.world.Status().Update(s.Context(), obj))
		}
	}
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
	require.NoError(s, s.world.Update(s.Context(), o))
}

// crash lets a pod of a StatefulSet's newest template crash.
func (s *stage) crash(set string) *corev1.Pod {
	s.Helper()
	w := get(s, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: set}})
	pod := crashing(set+"-0", w.Spec.Template.Annotations[AnnotationRevision], metav1.OwnerReference{APIVersion: "apps/v1", Kind: "StatefulSet", Name: set, UID: w.UID})
	pod.Labels = w.Spec.Template.Labels
	pod.Spec = w.Spec.Template.Spec
	status := pod.Status
	require.NoError(s, s.world.Create(s.Context(), pod))
	pod.Status = status
	require.NoError(s, s.world.Status().Update(s.Context(), pod))
	w.Status = appsv1.StatefulSetStatus{ObservedGeneration: w.Generation, Replicas: 2, ReadyReplicas: 1, CurrentRevision: "r", UpdateRevision: "s"}
	require.NoError(s, s.world.Status().Update(s.Context(), w))
	return pod
}

func (s *stage) condition(kind string) metav1.Condition {
	s.Helper()
	c := meta.FindStatusCondition(s.town().Status.Conditions, kind)
	require.NotNil(s, c)
	return *c
}

func (s *stage) image(set string) string {
	s.Helper()
	w := get(s, &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: set}})
	return w.Spec.Template.Spec.Containers[0].Image
}

func (s *stage) step(d time.Duration) { s.server.Clock().Step(d) }

func get[T client.Object](s *stage, obj T) T {
	s.Helper()
	require.NoError(s, s.world.Get(s.Context(), client.ObjectKeyFromObject(obj), obj))
	return obj
}

func (s *stage) exists(obj client.Object) bool {
	s.Helper()
	obj.SetNamespace("default")
	err := s.world.Get(s.Context(), client.ObjectKeyFromObject(obj), obj)
	require.NoError(s, client.IgnoreNotFound(err))
	return err == nil
}
