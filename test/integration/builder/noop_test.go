package builder_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/test/testcluster"
)

// untyped returns a manifest as an object without a Go type.
func untyped(t *testing.T, manifest string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &u.Object))
	return u
}

// statusChanges writes an object's status, as its own controller does, and waits until the cache shows it.
func (w *world) statusChanges(like client.Object, n int) {
	w.t.Helper()
	w.eventually(func() bool {
		u := &unstructured.Unstructured{}
		gvk, err := w.live.GroupVersionKindFor(like)
		require.NoError(w.t, err)
		u.SetGroupVersionKind(gvk)
		u = w.get(named(u, like.GetName())).(*unstructured.Unstructured)
		field, value := "observedGeneration", any(int64(n))
		switch gvk.Kind {
		case "Widget":
			field = "passes"
		case "Service":
			field, value = "conditions", []any{map[string]any{"type": fmt.Sprint("T", n), "status": "True",
				"reason": "R", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
		}
		require.NoError(w.t, unstructured.SetNestedField(u.Object, value, "status", field))
		return w.live.Status().Update(w.ctx, u) == nil
	}, "status of %s", like.GetName())
	w.settle(like)
}

func named(u *unstructured.Unstructured, name string) *unstructured.Unstructured {
	u.SetName(name)
	return u
}

// Templates that say what they are, as those of the compat package do: the API server says so as well, but not in the
// encoding that caches read.
func TestClaimTemplateWithItsKind(t *testing.T) {
	w := newWorld(t, &appsv1.StatefulSet{})
	wanted := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Spec: appsv1.StatefulSetSpec{
		Selector: webLabels(), Template: webPod(), Replicas: ptr.To[int32](0),
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}},
	}}
	w.mustWant(true, "create", wanted)
	for n := range 3 {
		w.edit(wanted, func(o client.Object) { o.SetAnnotations(withAnnotation(o, "theirs", fmt.Sprint(n))) })
		w.mustWant(false, "annotated by others", wanted)
		w.statusChanges(wanted, 10+n)
		w.mustWant(false, "another status", wanted)
	}
}

func withAnnotation(o client.Object, name, value string) map[string]string {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	return annotations
}

const untypedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      hostNetwork: false
      containers:
      - name: web
        image: web
        resources: {requests: {cpu: 1000m}}
        env: [{name: EMPTY, value: ""}, {name: A, value: "1"}]
        ports: [{containerPort: 80}]
      volumes:
      - {name: cache, emptyDir: {}}
`

const untypedService = `
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  publishNotReadyAddresses: false
  ports: [{name: http, port: 80}]
`

// What the API server leaves out since it says nothing, and what others add to lists of elements with keys, is no drift:
// also of an object without a Go type.
func TestUntypedBuiltins(t *testing.T) {
	deployment := &unstructured.Unstructured{}
	deployment.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	service := &unstructured.Unstructured{}
	service.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Service"))
	pod := func(change func(*corev1.PodSpec)) func(runtime.Object) {
		return func(o runtime.Object) { change(&o.(*appsv1.Deployment).Spec.Template.Spec) }
	}
	for name, c := range map[string]struct {
		manifest string
		inject   func(runtime.Object) // what others add
		drift    func(runtime.Object) // what is put back
	}{
		"zero values": {untypedDeployment, func(runtime.Object) {}, pod(func(p *corev1.PodSpec) { p.HostNetwork = true })},
		"an empty value set": {untypedDeployment, func(runtime.Object) {}, pod(func(p *corev1.PodSpec) {
			p.Containers[0].Env[0].Value = "x"
		})},
		"a sidecar": {untypedDeployment, pod(func(p *corev1.PodSpec) {
			p.Containers = append([]corev1.Container{{Name: "proxy", Image: "x"}}, p.Containers...)
		}), pod(func(p *corev1.PodSpec) { p.Containers[1].Image = "other" })},
		"a volume": {untypedDeployment, pod(func(p *corev1.PodSpec) { p.Volumes = append(p.Volumes, corev1.Volume{Name: "theirs"}) }),
			pod(func(p *corev1.PodSpec) { p.Volumes = p.Volumes[1:] })},
		"a port": {untypedDeployment, pod(func(p *corev1.PodSpec) {
			p.Containers[0].Ports = append(p.Containers[0].Ports, corev1.ContainerPort{ContainerPort: 81})
		}), pod(func(p *corev1.PodSpec) { p.Containers[0].Ports = p.Containers[0].Ports[1:] })},
		"a service's port": {untypedService, func(o runtime.Object) {
			s := o.(*corev1.Service)
			s.Spec.Ports = append(s.Spec.Ports, corev1.ServicePort{Name: "theirs", Port: 81})
		}, func(o runtime.Object) { o.(*corev1.Service).Spec.Selector["x"] = "y" }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, deployment, service)
			wanted := untyped(t, c.manifest)
			change := func(how func(runtime.Object)) {
				w.edit(wanted, func(o client.Object) {
					u := o.(*unstructured.Unstructured)
					typed, err := testScheme().New(u.GroupVersionKind())
					require.NoError(t, err)
					require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed))
					how(typed)
					u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
					require.NoError(t, err)
					u.SetGroupVersionKind(wanted.GroupVersionKind())
				})
			}
			w.mustWant(true, "create", wanted)
			w.mustWant(false, "created", wanted)
			change(c.inject)
			w.mustWant(false, "injected", wanted)
			for n := range 2 {
				w.statusChanges(wanted, 10+n)
				w.mustWant(false, "another status", wanted)
			}
			change(c.drift)
			w.mustWant(true, "drift", wanted)
			w.mustWant(false, "put back", wanted)
			w.statusChanges(wanted, 20)
			w.mustWant(false, "another status after that", wanted)
		})
	}
}

// Of a custom resource only the API server knows how its lists are merged: it is asked once, and not again before what it
// has stored, status aside, is another.
func TestNoOpApplyIsRemembered(t *testing.T) {
	testcluster.InstallCRDs(t, "testdata/crd")
	like := &unstructured.Unstructured{}
	like.SetGroupVersionKind(widgetVersion.WithKind("Widget"))
	w := newWorld(t, like)
	wanted := untyped(t, "{apiVersion: "+widgetVersion.String()+", kind: Widget, metadata: {name: w}, spec: {source: a, parts: [{name: ours, size: 1}]}}")
	fresh := builder.NewEngine(w.cached, builder.Options{Name: "tester"}) // nothing in its memory at first
	requests := func(e *builder.Engine) int {
		w.sent.reset()
		_, err := e.For(w.owner).Object(wanted).Reconcile(w.ctx)
		require.NoError(t, err)
		return len(w.sent.all())
	}
	w.mustWant(true, "create", wanted)
	assert.Zero(t, requests(w.engine), "created")
	inject := func(parts ...any) {
		w.edit(wanted, func(o client.Object) {
			require.NoError(t, unstructured.SetNestedSlice(o.(*unstructured.Unstructured).Object, parts, "spec", "parts"))
		})
	}
	part := func(name string, size int64) any { return map[string]any{"name": name, "size": size} }
	for n, parts := range [][]any{{part("ours", 1), part("theirs", 2)}, {part("ours", 1), part("theirs", 3)}} {
		inject(parts...)
		for i, e := range []*builder.Engine{w.engine, w.engine, fresh, fresh} {
			w.statusChanges(wanted, 10*(n+1)+i)
			assert.Equal(t, []int{1, 0, 1, 0}[i], requests(e), "asked once in the life of an engine, for each content")
		}
	}
	inject(part("ours", 9), part("theirs", 3))
	w.mustWant(true, "drift", wanted)
	w.statusChanges(wanted, 90)
	assert.Zero(t, requests(w.engine), "what was put back is known as well")
	got, _, err := unstructured.NestedSlice(w.get(wanted).(*unstructured.Unstructured).Object, "spec", "parts")
	require.NoError(t, err)
	assert.ElementsMatch(t, []any{part("ours", 1), part("theirs", 3)}, got)
}
