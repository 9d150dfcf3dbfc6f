package dsoi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

// Town is a kind that embeds the terms, as anyone's does.
type Town struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TownSpec              `json:"spec"`
	Status            v1beta1.ClusterStatus `json:"status,omitempty"`
}

type TownSpec struct {
	v1beta1.ClusterSpec `json:",inline"`
	// Mayor shows that a kind may have fields of its own.
	Mayor string `json:"mayor,omitempty"`
}

func (t *Town) Conditions() *[]metav1.Condition       { return &t.Status.Conditions }
func (t *Town) Description() v1beta1.ClusterSpec      { return t.Spec.ClusterSpec }
func (t *Town) ClusterStatus() *v1beta1.ClusterStatus { return &t.Status }
func (t *Town) DeepCopyObject() runtime.Object {
	c := *t
	t.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	t.Spec.ClusterSpec.DeepCopyInto(&c.Spec.ClusterSpec)
	t.Status.DeepCopyInto(&c.Status)
	return &c
}

// TownScaling scales a Town.
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

type TownList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Town `json:"items"`
}

func (l *TownList) DeepCopyObject() runtime.Object { c := *l; return &c }

type TownScalingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []TownScaling `json:"items"`
}

func (l *TownScalingList) DeepCopyObject() runtime.Object { c := *l; return &c }

var towns = schema.GroupVersion{Group: "example.com", Version: "v1"}

func townScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(towns, &Town{}, &TownList{}, &TownScaling{}, &TownScalingList{})
	metav1.AddToGroupVersion(s, towns)
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	return s
}

// theApp is an App for Towns.
func theApp() *App[*Town] {
	return &App[*Town]{Name: "town", Scaling: &TownScaling{}, Fields: []string{"java_opts"}}
}

// town returns a Town of this spec.
func town(t require.TestingT, spec string) *Town {
	o := &Town{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "t", UID: "town-uid", Generation: 1}}
	require.NoError(t, yaml.Unmarshal([]byte(spec), &o.Spec))
	return o
}

// theSpec is a town of three node types, of which the second has two nodes.
const theSpec = `
deploymentOrder: [coordinator, storage, gateway]
external: {zookeeper: {spec: {zkAddress: "zk:2181"}}}
k8sConfigGroup:
- name: small
  image: town:v1
  ports: [{name: http, containerPort: 8080}]
- name: data
  image: town:v1
  ports: [{containerPort: 8080}, {containerPort: 9090}]
  service: {ports: [{port: 80, targetPort: 8080}]}
  podDisruptionBudget: {maxUnavailable: 1}
  storageConfig:
  - {name: data, mountPath: /data, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
appConfigGroup:
- {name: common, commonRuntimeProperties: "a=1\nb=2", data: "x"}
- {name: storage, runtimeProperties: "b=3", overrideProperties: "a=9", files: {log.xml: "<log/>"}}
nodes:
- {name: coord, kind: Deployment, nodeType: coordinator, k8sConfigGroup: small}
- {name: az1, kind: Statefulset, nodeType: storage, replicas: 2, k8sConfigGroup: data, appConfigGroup: [common, storage]}
- {name: az2, nodeType: storage, k8sConfigGroup: data, appConfigGroup: [common, storage]}
- {name: gate, kind: daemonset, nodeType: gateway, k8sConfigGroup: small}
`

var theTime = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// readySet makes a StatefulSet what its controller makes of it in the end.
func readySet(s *appsv1.StatefulSet) *appsv1.StatefulSet {
	n := int32(1)
	if s.Spec.Replicas != nil {
		n = *s.Spec.Replicas
	}
	s.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: s.Generation, Replicas: n, ReadyReplicas: n, CurrentReplicas: n, UpdatedReplicas: n, AvailableReplicas: n,
		CurrentRevision: "r", UpdateRevision: "r",
	}
	return s
}

func find[T interface{ GetName() string }](t testing.TB, objs []T, name string) T {
	t.Helper()
	for _, o := range objs {
		if o.GetName() == name {
			return o
		}
	}
	require.Fail(t, "there is no "+name)
	panic("unreachable")
}
