package world

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// Cluster returns a Scenario.Cluster of package buildertest: a world with these options around the scenario's server. Pods need a [Node]
// among the scenario's objects.
//
//	buildertest.Scenario{
//		Objects: []client.Object{owner, world.Node("n1")},
//		Cluster: world.Cluster(world.Options{Pods: world.JobsSucceed}),
func Cluster(o Options) func(*buildertest.Server) buildertest.Cluster {
	return func(server *buildertest.Server) buildertest.Cluster { return New(server, o) }
}

// ScenarioOf returns a scenario with an operator, which gets no manager, an owner, and a world with one node, in which Jobs succeed:
// see [JobsSucceed].
func ScenarioOf[T client.Object](
	operator func(manager.Manager) *builder.Operator[T], owner T, scheme *runtime.Scheme, options ...buildertest.Option,
) buildertest.Scenario {
	return buildertest.Scenario{
		Scheme:     scheme,
		Owner:      owner,
		Options:    options,
		Objects:    []client.Object{owner, Node("n1")},
		Requests:   []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(owner)}},
		Cluster:    Cluster(Options{Pods: JobsSucceed}),
		Reconciler: OperatorOf(operator).Reconciler,
	}
}

// Node returns a ready node without limits.
func Node(name string) *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelHostname: name}},
		Status:     corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
}

// JobsSucceed is a function for [Options].Pods: the pods of Jobs end at once with exit code 0. All others run until they are deleted.
func JobsSucceed(pod *corev1.Pod) Script {
	ref := metav1.GetControllerOfNoCopy(pod)
	return Script{Ends: ref != nil && ref.Kind == "Job"}
}

// Func returns a controller that a function describes.
func Func(name string, changes func(*State) []Change) Controller { return function{name, changes} }

type function struct {
	name    string
	changes func(*State) []Change
}

func (f function) Name() string              { return f.name }
func (f function) Changes(s *State) []Change { return f.changes(s) }
