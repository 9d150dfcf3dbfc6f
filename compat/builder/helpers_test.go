package builder_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/compat/builder"
)

// server is a fake API server that counts requests and can be told to fail.
type server struct {
	client.WithWatch
	t *testing.T

	mu       sync.Mutex
	requests map[string]int // by verb and type, such as "list *v1.ConfigMapList"
	uids     int
	fail     func(verb string, obj client.Object) error
}

func newServer(t *testing.T, objs ...client.Object) *server {
	t.Helper()
	s := &server{t: t, requests: map[string]int{}}
	mapper := testrestmapper.TestOnlyStaticRESTMapper(clientgoscheme.Scheme)
	c := fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithRESTMapper(mapper).WithObjects(objs...).WithReturnManagedFields().Build()
	s.WithWatch = interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
			if err := s.note("create", obj); err != nil {
				return err
			}
			obj.SetUID(s.uid())
			return c.Create(ctx, obj, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			if err := s.note("patch", obj); err != nil {
				return err
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.UpdateOption) error {
			if err := s.note("update", obj); err != nil {
				return err
			}
			return c.Update(ctx, obj, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.DeleteOption) error {
			if err := s.note("delete", obj); err != nil {
				return err
			}
			return c.Delete(ctx, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			s.count(fmt.Sprintf("list %T", list))
			return c.List(ctx, list, opts...)
		},
	})
	return s
}

func (s *server) note(verb string, obj client.Object) error {
	s.count(fmt.Sprintf("%s %T", verb, obj))
	s.count("write")
	if s.fail != nil {
		return s.fail(verb, obj)
	}
	return nil
}

func (s *server) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[what]++
}

func (s *server) uid() types.UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uids++
	return types.UID(fmt.Sprintf("uid-%d", s.uids))
}

// take returns the requests since it was last called.
func (s *server) take() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.requests
	s.requests = map[string]int{}
	return taken
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
