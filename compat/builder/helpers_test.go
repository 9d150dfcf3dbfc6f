package builder_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/compat/builder"
)

// server is a client of an API server in memory, which keeps objects without an owner.
type server struct {
	*buildertest.Client
	t *testing.T
}

func newServer(t *testing.T, objs ...client.Object) *server {
	t.Helper()
	api := buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithManualGarbageCollection(), buildertest.WithObjects(objs...))
	return &server{Client: api.Client("test"), t: t}
}

// refuse makes writes of objects of a name fail; of all objects without a name.
func (s *server) refuse(err error, name string) {
	for _, verb := range []buildertest.Verb{
		buildertest.VerbCreate, buildertest.VerbUpdate, buildertest.VerbPatch, buildertest.VerbApply, buildertest.VerbDelete,
	} {
		s.Fail(buildertest.Fault{Verb: verb, Name: name, Error: func(buildertest.Call) error { return err }})
	}
}

// writes returns the number of writes since it was last called.
func (s *server) writes() int {
	defer s.Ledger().Reset()
	return len(s.Ledger().Writes())
}

// has reports whether an object exists.
func (s *server) has(obj client.Object, name string) bool {
	s.t.Helper()
	err := s.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, obj)
	require.NoError(s.t, client.IgnoreNotFound(err))
	return err == nil
}

// change edits an object by hand, behind the builder's back.
func change[T client.Object](s *server, obj T, name string, edit func(T)) {
	s.t.Helper()
	require.NoError(s.t, s.Get(s.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, obj))
	edit(obj)
	require.NoError(s.t, s.Update(s.t.Context(), obj))
}

// newCR returns an owner: a ConfigMap that stands for a custom resource.
func newCR(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-of-" + name)}}
}

func ownerRef(cr *corev1.ConfigMap) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: cr.Name, UID: cr.UID, Controller: new(true)}
}

// common is what operators of the original write for each object.
func common(c client.Client, cr *corev1.ConfigMap, name string) builder.CommonBuilder {
	return builder.CommonBuilder{
		ObjectMeta: metav1.ObjectMeta{Namespace: cr.Namespace, Name: name},
		Client:     c,
		CrObject:   cr,
		OwnerRef:   ownerRef(cr),
	}
}

func configMap(c client.Client, cr *corev1.ConfigMap, name string, data map[string]string) builder.BuilderConfigMap {
	return builder.BuilderConfigMap{CommonBuilder: common(c, cr, name), Data: data}
}

func workload(c client.Client, cr *corev1.ConfigMap, kind, name string) builder.BuilderDeploymentStatefulSet {
	return builder.BuilderDeploymentStatefulSet{
		CommonBuilder: common(c, cr, name),
		Kind:          kind,
		Replicas:      1,
		Labels:        map[string]string{"custom_resource": cr.Name, "node": name},
		PodSpec:       &corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "app:1"}}},
	}
}

var aPort = []corev1.ServicePort{{Port: 80}}

// newBuilder returns a Builder with a store for cr, and whatever the options add.
func newBuilder(c client.Client, cr *corev1.ConfigMap, opts ...builder.ToBuilder) *builder.Builder {
	return builder.NewBuilder(append([]builder.ToBuilder{
		builder.ToNewBuilderContext(builder.BuilderContext{Context: context.Background()}),
		builder.ToNewBuilderStore(*builder.NewStore(c, nil, cr.Namespace, cr)),
	}, opts...)...)
}

func newRecorder() (*record.FakeRecorder, builder.BuilderRecorder) {
	fakeRecorder := record.NewFakeRecorder(100)
	return fakeRecorder, builder.BuilderRecorder{Recorder: fakeRecorder, ControllerName: "Test"}
}

// events returns what a recorder was told.
func events(r *record.FakeRecorder) []string {
	var told []string
	for {
		select {
		case e := <-r.Events:
			told = append(told, e)
		default:
			return told
		}
	}
}

// reasons returns the type and reason of each event.
func reasons(told []string) []string {
	var short []string
	for _, e := range told {
		words := strings.SplitN(e, " ", 3)
		short = append(short, words[0]+" "+words[1])
	}
	return short
}
