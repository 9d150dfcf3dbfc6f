package scaling

import (
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/dsoi"
	"github.com/armature-dev/armature/events"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// TownScaling is a kind that embeds the terms.
type TownScaling struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              v1beta1.ScalingSpec   `json:"spec"`
	Status            v1beta1.ScalingStatus `json:"status,omitempty"`
}

func (s *TownScaling) Conditions() *[]metav1.Condition       { return &s.Status.Conditions }
func (s *TownScaling) ScalingSpec() *v1beta1.ScalingSpec     { return &s.Spec }
func (s *TownScaling) ScalingStatus() *v1beta1.ScalingStatus { return &s.Status }
func (s *TownScaling) DeepCopyObject() runtime.Object {
	c := *s
	s.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	s.Spec.DeepCopyInto(&c.Spec)
	s.Status.DeepCopyInto(&c.Status)
	return &c
}

type TownScalingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []TownScaling `json:"items"`
}

func (l *TownScalingList) DeepCopyObject() runtime.Object {
	c := *l
	c.Items = nil
	for i := range l.Items {
		c.Items = append(c.Items, *l.Items[i].DeepCopyObject().(*TownScaling))
	}
	return &c
}

// Town is the kind of the clusters; only its name counts here.
type Town struct{ TownScaling }

func townScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	gv := schema.GroupVersion{Group: "example.com", Version: "v1"}
	s.AddKnownTypes(gv, &TownScaling{}, &TownScalingList{})
	metav1.AddToGroupVersion(s, gv)
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}

// source is an endpoint that says what it is told to.
type source struct {
	url    string
	answer atomic.Value
	asked  atomic.Int32
}

func newSource(t *testing.T, answer string) *source {
	s := &source{}
	s.answer.Store(answer)
	s.url = served(t, func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		fmt.Fprint(w, s.answer.Load())
	})
	return s
}

// owned makes an object one of the town kv's.
func owned[T client.Object](obj T, node string) T {
	obj.SetNamespace("default")
	obj.SetLabels(map[string]string{dsoi.LabelCluster: "kv", dsoi.LabelNode: node, dsoi.LabelNodeType: "x"})
	obj.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Town", Name: "kv", UID: "kv-uid", Controller: new(true)}})
	return obj
}

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

func aSet(node string, replicas int32) *appsv1.StatefulSet {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	return owned(&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "kv-" + node}, Spec: appsv1.StatefulSetSpec{
		Replicas: &replicas, Selector: selector, Template: podTemplate(),
	}}, node)
}

func aDeployment(node string, replicas int32) *appsv1.Deployment {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
	return owned(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "kv-" + node}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: selector, Template: podTemplate(),
	}}, node)
}

func aClaim(name, size, class string) *corev1.PersistentVolumeClaim {
	c := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, Labels: map[string]string{dsoi.LabelCluster: "kv", dsoi.LabelNode: "storage"},
			Annotations: map[string]string{dsoi.AnnotationCluster: "kv", dsoi.AnnotationStorage: "data"},
		},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: new(class),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}
	c.Status.Phase = corev1.ClaimBound
	return c
}

func aClass(name string, grows bool) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: "example.com/x", AllowVolumeExpansion: &grows}
}

func aScaling(entries ...v1beta1.NodeScaling) *TownScaling {
	return &TownScaling{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kv"}, Spec: v1beta1.ScalingSpec{Autoscaling: entries}}
}

// byURL is an entry that scales a node by an endpoint, between 1 and 5, around 50.
func byURL(node, url string) v1beta1.NodeScaling {
	return v1beta1.NodeScaling{Name: node, Spec: &v1beta1.ReplicaScaling{
		MaxReplica: ptr.To[int32](5), Threshold: "50", CoolDown: "60", Source: &v1beta1.Source{External: &v1beta1.HTTPSource{URL: url}},
	}}
}

// stage is a scaling on an API server in memory.
type stage struct {
	*testing.T
	server     *buildertest.Server
	ours       *buildertest.Client
	world      *buildertest.Client
	reconciler reconcile.Reconciler
}

var request = reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "kv"}}

var withTowns = buildertest.WithStatusSubresource(&TownScaling{})

func theController() *Controller[*TownScaling] {
	return &Controller[*TownScaling]{Name: "town-scaling", Cluster: &Town{}, Loopback: true}
}

func perform(t *testing.T, objs ...client.Object) *stage {
	s := &stage{T: t, server: buildertest.NewServer(townScheme(), withTowns, buildertest.WithObjects(objs...))}
	s.ours, s.world = s.server.Client("operator"), s.server.Client("world")
	var err error
	s.reconciler, err = buildertest.NewReconciler(theController().Operator(nil, s.ours, s.ours.Live()), s.ours, s.ours.Now)
	require.NoError(t, err)
	return s
}

// pass runs one pass and returns what it wrote, but for the status.
func (s *stage) pass() (writes []string) {
	s.Helper()
	s.ours.Ledger().Reset()
	_, err := s.reconciler.Reconcile(s.Context(), request)
	require.NoError(s, err)
	for _, c := range s.ours.Ledger().Writes() {
		if c.Subresource != "status" {
			writes = append(writes, c.String())
		}
	}
	return writes
}

// passes lets some time go by, and runs passes until nothing is written any more.
func (s *stage) passes(after time.Duration) (writes []string) {
	s.Helper()
	s.server.Clock().Step(after)
	for range 5 {
		before := s.server.Version()
		writes = append(writes, s.pass()...)
		if s.server.Version() == before {
			return writes
		}
	}
	require.Fail(s, "it does not settle")
	return nil
}

func read[T client.Object](s *stage, obj T, name string) T {
	s.Helper()
	require.NoError(s, s.world.Get(s.Context(), client.ObjectKey{Namespace: "default", Name: name}, obj))
	return obj
}

func (s *stage) scaling() *TownScaling { s.Helper(); return read(s, &TownScaling{}, "kv") }

func (s *stage) replicas(set string) int32 {
	s.Helper()
	return *read(s, &appsv1.StatefulSet{}, set).Spec.Replicas
}

// scale sets the replicas of a StatefulSet, as someone else.
func (s *stage) scale(name string, replicas int32) {
	s.Helper()
	set := read(s, &appsv1.StatefulSet{}, name)
	set.Spec.Replicas = &replicas
	require.NoError(s, s.world.Update(s.Context(), set))
}

func (s *stage) ready() metav1.Condition {
	s.Helper()
	c := meta.FindStatusCondition(s.scaling().Status.Conditions, events.ConditionReady)
	require.NotNil(s, c)
	return *c
}

func (s *stage) change(change func(*TownScaling)) {
	s.Helper()
	o := s.scaling()
	change(o)
	require.NoError(s, s.world.Update(s.Context(), o))
}
