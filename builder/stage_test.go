package builder_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// flowScheme has the kinds of Kubernetes and of Armature.
var flowScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	utilruntime.Must(v1alpha1.AddToScheme(s))
	return s
}()

// A Deployment plays the owner: it is a built-in kind with a status.
type (
	ownerPlan = builder.Plan[*appsv1.Deployment]
	ownerFunc = builder.PlanFunc[*appsv1.Deployment]
	operator  = builder.Operator[*appsv1.Deployment]
)

const ownerUID = types.UID("owner-uid")

func newOwner() *appsv1.Deployment {
	labels := map[string]string{"a": "b"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: ownerUID},
		Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}},
	}
}

// newOtherOwner returns an owner that no pass is about. Without it, the garbage collector deletes the objects that it controls as soon as
// they are written.
func newOtherOwner(uid types.UID) *appsv1.Deployment {
	owner := newOwner()
	owner.Name, owner.UID = string(uid), uid
	return owner
}

func newJob(name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}},
	}
}

// controlled returns obj with the owner, or another Deployment of that UID, as its controller.
func controlled[T client.Object](obj T, uid types.UID) T {
	obj.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "Deployment", Name: "owner", UID: uid, Controller: new(true), BlockOwnerDeletion: new(true),
	}})
	if uid != ownerUID {
		obj.GetOwnerReferences()[0].Name = string(uid)
	}
	return obj
}

// stage is an operator on an API server in memory.
type stage struct {
	t          *testing.T
	server     *buildertest.Server
	ours       *buildertest.Client // the operator's
	others     *buildertest.Client
	reconciler reconcile.Reconciler
}

// perform sets a stage with an owner and some objects, and an operator on it.
func perform(t *testing.T, plan ownerFunc, describe func(*operator), objs ...client.Object) *stage {
	t.Helper()
	s := &stage{t: t, server: buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(append(objs, newOwner())...))}
	s.ours, s.others = s.server.Client("operator"), s.server.Client("others")
	var err error
	s.reconciler, err = buildertest.NewReconciler(describedBy(plan, describe), s.ours, s.ours.Now)
	require.NoError(t, err)
	return s
}

func describedBy(plan ownerFunc, describe func(*operator)) *operator {
	o := builder.NewOperator[*appsv1.Deployment](nil, "test").Plan(plan)
	if describe == nil {
		describe = func(o *operator) { o.Owns(&batchv1.Job{}) }
	}
	describe(o)
	return o
}

// The clusters around a stage: Deployments roll out, and Jobs run, succeed or fail.
var (
	jobsRun     = aroundOwner(world.Options{})
	jobsSucceed = aroundOwner(world.Options{Pods: world.JobsSucceed})
	jobsFail    = aroundOwner(world.Options{Pods: func(pod *corev1.Pod) world.Script {
		script := world.JobsSucceed(pod)
		script.ExitCode = 1
		return script
	}})
)

// aroundOwner returns a simulated cluster that leaves the owner alone: this Deployment stands for a custom resource.
func aroundOwner(o world.Options) func(*buildertest.Server) buildertest.Cluster {
	return func(server *buildertest.Server) buildertest.Cluster { return withoutOwner{world.New(server, o)} }
}

type withoutOwner struct{ *world.World }

func (c withoutOwner) Next() ([]buildertest.ClusterStep, time.Time, error) {
	steps, next, err := c.World.Next()
	return slices.DeleteFunc(steps, func(s buildertest.ClusterStep) bool { return s.Group == "Deployment default/owner" }), next, err
}

// settle lets a cluster act until it rests. It needs a node.
func (s *stage) settle(cluster func(*buildertest.Server) buildertest.Cluster) {
	s.t.Helper()
	for around := cluster(s.server); ; {
		steps, _, err := around.Next()
		require.NoError(s.t, err)
		if len(steps) == 0 {
			return
		}
		for _, step := range steps {
			require.NoError(s.t, step.Run(s.t.Context()))
		}
	}
}

// scenario is the same for CrashEverywhere.
func scenario(plan ownerFunc, describe func(*operator), objs ...client.Object) buildertest.Scenario {
	return buildertest.Scenario{
		Objects:  append(objs, newOwner()),
		Requests: []reconcile.Request{ownerRequest()},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(describedBy(plan, describe), c, c.Now)
		},
	}
}

func ownerRequest() reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "owner"}}
}

// pass runs one pass and returns what it wrote.
func (s *stage) pass() (writes []string, after time.Duration, err error) {
	s.ours.Ledger().Reset()
	res, err := s.reconciler.Reconcile(s.t.Context(), ownerRequest())
	for _, c := range s.ours.Ledger().Writes() {
		writes = append(writes, c.String())
	}
	return writes, res.RequeueAfter, err
}

// passes runs a pass that must not fail.
func (s *stage) passes() []string {
	s.t.Helper()
	writes, _, err := s.pass()
	require.NoError(s.t, err)
	return writes
}

// get reads an object anew, as it is on the server.
func get[T client.Object](s *stage, obj T) T {
	s.t.Helper()
	require.NoError(s.t, s.others.Get(s.t.Context(), client.ObjectKeyFromObject(obj), obj))
	return obj
}
