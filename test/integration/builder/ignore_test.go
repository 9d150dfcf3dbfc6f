package builder_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
)

// want runs one pass that wants one object, kept as the options say, and another while there are conflicts: a
// controller may write at the same time.
func (w *world) want(obj client.Object, opts ...builder.ChildOption) (res builder.Result, sent []string, err error) {
	for range 20 {
		w.settleIfThere(obj)
		w.sent.reset()
		res, err = w.engine.For(w.owner).Object(obj, opts...).Reconcile(w.ctx)
		if !apierrors.IsConflict(leaf(err)) {
			break
		}
	}
	return res, w.sent.all(), err
}

// settleIfThere waits until the cache shows what the API server has, be it nothing.
func (w *world) settleIfThere(like client.Object) {
	version := func(c client.Client) string {
		obj := like.DeepCopyObject().(client.Object)
		if err := c.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: like.GetName()}, obj); err != nil {
			return "none"
		}
		return obj.GetResourceVersion()
	}
	for until := time.Now().Add(patience); version(w.cached) != version(w.live) && time.Now().Before(until); {
		time.Sleep(pollEvery)
	}
}

// mustWant is want, and what must come of it: a write, or none. It tries again while a controller writes as well.
func (w *world) mustWant(changes bool, why string, obj client.Object, opts ...builder.ChildOption) {
	w.t.Helper()
	w.eventually(func() bool {
		res, sent, err := w.want(obj, opts...)
		if err != nil {
			return false
		}
		assert.Equal(w.t, changes, len(res.Changes) > 0, why)
		assert.Equal(w.t, changes, len(sent) > 0, "%s: %v", why, sent)
		return true
	}, "%s", why)
	w.settle(obj)
}

// scale does what an autoscaler does.
func (w *world) scale(like client.Object, replicas int32) {
	obj := w.get(like)
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
	require.NoError(w.t, w.live.SubResource("scale").Update(w.ctx, obj, client.WithSubResourceBody(scale)))
	w.settle(like)
}

func (w *world) replicas(like client.Object) int64 {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(w.get(like))
	require.NoError(w.t, err)
	n, _, err := unstructured.NestedInt64(fields, "spec", "replicas")
	require.NoError(w.t, err)
	return n
}

func asUntyped(t *testing.T, obj client.Object, apiVersion, kind string) client.Object {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	require.NoError(t, err)
	u := &unstructured.Unstructured{Object: fields}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	return u
}

func TestIgnoredReplicas(t *testing.T) {
	forms := map[string]func(*appsv1.Deployment) client.Object{
		"typed":        func(d *appsv1.Deployment) client.Object { return d },
		"unstructured": func(d *appsv1.Deployment) client.Object { return asUntyped(t, d, "apps/v1", "Deployment") },
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			wanted := func(image string, replicas int32) client.Object {
				d := webDeployment()
				d.Spec.Replicas = &replicas
				d.Spec.Template.Spec.NodeSelector = map[string]string{"none": "such"} // no pod runs
				d.Spec.Template.Spec.Containers[0].Image = image
				d.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
				return form(d)
			}
			ignore := builder.Ignore("spec.replicas")

			t.Run("created, scaled, claimed, applied", func(t *testing.T) {
				w := newWorld(t, wanted("a", 1))
				w.mustWant(true, "create", wanted("a", 2), ignore)
				assert.EqualValues(t, 2, w.replicas(wanted("a", 0)), "the first value")
				w.mustWant(false, "another value is wanted", wanted("a", 3), ignore)
				w.scale(wanted("a", 0), 5)
				w.mustWant(false, "scaled", wanted("a", 2), ignore)
				for _, image := range []string{"b", "c"} {
					w.mustWant(true, "another image", wanted(image, 2), ignore)
					assert.EqualValues(t, 5, w.replicas(wanted("a", 0)))
				}
				w.scale(wanted("a", 0), 0)
				w.mustWant(true, "another image", wanted("d", 2), ignore)
				assert.EqualValues(t, 0, w.replicas(wanted("a", 0)))
			})
			t.Run("created, never scaled", func(t *testing.T) {
				w := newWorld(t, wanted("a", 1))
				w.mustWant(true, "create", wanted("a", 2), ignore)
				for _, image := range []string{"b", "c"} {
					w.mustWant(true, "another image", wanted(image, 7), ignore)
					assert.EqualValues(t, 2, w.replicas(wanted("a", 0)), "not reset to the default")
				}
			})
			t.Run("drift repaired before it is claimed", func(t *testing.T) {
				w := newWorld(t, wanted("a", 1))
				w.mustWant(true, "create", wanted("a", 2), ignore)
				w.edit(wanted("a", 0), func(o client.Object) { o.SetLabels(nil) })
				w.mustWant(true, "drift", wanted("a", 2), ignore)
				assert.EqualValues(t, 2, w.replicas(wanted("a", 0)))
				w.mustWant(true, "another image", wanted("b", 2), ignore)
				assert.EqualValues(t, 2, w.replicas(wanted("a", 0)))
			})
			t.Run("switched on and off", func(t *testing.T) {
				for _, applied := range []bool{false, true} {
					w := newWorld(t, wanted("a", 1))
					w.mustWant(true, "create", wanted("a", 2))
					if applied {
						w.mustWant(true, "applied", wanted("a", 3))
						w.mustWant(true, "applied again", wanted("a", 2))
					}
					w.mustWant(true, "switched on, with another value", wanted("a", 9), ignore)
					assert.EqualValues(t, 2, w.replicas(wanted("a", 0)), "released with its value")
					w.mustWant(false, "settled", wanted("a", 9), ignore)
					w.mustWant(true, "another image", wanted("b", 9), ignore)
					assert.EqualValues(t, 2, w.replicas(wanted("a", 0)))
					w.scale(wanted("a", 0), 4)
					w.mustWant(true, "another image", wanted("c", 9), ignore)
					assert.EqualValues(t, 4, w.replicas(wanted("a", 0)))
					w.mustWant(true, "switched off", wanted("c", 1))
					assert.EqualValues(t, 1, w.replicas(wanted("a", 0)), "ours again")
				}
			})
		})
	}
}

func TestIgnoredElementsAndKeys(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	wanted := webDeployment()
	wanted.Annotations = map[string]string{"example.com/x": "first", "example.com/y": "ours"}
	ignore := builder.Ignore("metadata.annotations[example.com/x]", "spec.template.spec.containers[name=web].image",
		"spec.template.spec.containers[name=web].env[name=A]")
	w.mustWant(true, "create", wanted, ignore)
	assert.Equal(t, "first", w.get(wanted).GetAnnotations()["example.com/x"])
	w.edit(wanted, func(o client.Object) {
		o.(*appsv1.Deployment).Annotations["example.com/x"] = "theirs"
		o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Image = "theirs"
		o.(*appsv1.Deployment).Spec.Template.Spec.Containers[0].Env[0].Value = "theirs"
	})
	w.mustWant(false, "edited", wanted, ignore)
	wanted.Spec.Template.Spec.Containers[0].Env[1].Value = "changed"
	wanted.Annotations["example.com/y"] = "changed"
	w.mustWant(true, "changed beside it", wanted, ignore)
	got := w.get(wanted).(*appsv1.Deployment)
	assert.Equal(t, "theirs", got.Annotations["example.com/x"])
	assert.Equal(t, "changed", got.Annotations["example.com/y"])
	assert.Equal(t, "theirs", got.Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, []corev1.EnvVar{{Name: "A", Value: "theirs"}, {Name: "B", Value: "changed"}}, got.Spec.Template.Spec.Containers[0].Env)
	delete(wanted.Annotations, "example.com/x")
	w.mustWant(false, "no longer wanted, and ignored", wanted, ignore)
	assert.Equal(t, "theirs", w.get(wanted).GetAnnotations()["example.com/x"])
}

func TestReleaseYieldsToAWriterInBetween(t *testing.T) {
	w := newWorld(t, &appsv1.Deployment{})
	wanted := webDeployment()
	w.mustWant(true, "create", wanted)
	before := w.get(wanted)
	w.scale(wanted, 3)
	frozen := builder.NewEngine(staleReads{w.cached, before}, builder.Options{Name: "tester", Reader: w.live})
	_, err := frozen.For(w.owner).Object(wanted, builder.Ignore("spec.replicas")).Reconcile(w.ctx)
	require.Error(t, err, "a conflict, to be tried again")
	assert.EqualValues(t, 3, w.replicas(wanted))
	wanted.Spec.Replicas = ptr.To[int32](1)
	w.mustWant(true, "switched on", wanted, builder.Ignore("spec.replicas"))
	assert.EqualValues(t, 3, w.replicas(wanted))
}
