package builder_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/readiness"
	turns "github.com/armature-dev/armature/builder/release"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/test/testcluster"
)

// inTurns runs a build of a program, whose widgets have a Deployment with an image. A Deployment is ready when its annotation has the
// image. It returns what stops the program, and its requests.
func (w *world) inTurns(image string) (stop func(), sent *ledger) {
	w.t.Helper()
	sent = &ledger{}
	mgr, err := turns.Around(newManager(w.t, sent.watch(testcluster.Config(w.t))), turns.Options{Namespace: w.ns, Build: image})
	require.NoError(w.t, err)
	ready := func(child client.Object) readiness.Status {
		d := child.(*appsv1.Deployment)
		if d.Annotations["ready"] != d.Spec.Template.Spec.Containers[0].Image {
			return readiness.Status{Message: "not with this image"}
		}
		return readiness.Status{Ready: true}
	}
	require.NoError(w.t, builder.NewOperator[*Widget](mgr, "widget-turns").Owns(&appsv1.Deployment{}).
		Plan(func(owner *Widget, _ builder.View) builder.Plan[*Widget] {
			if owner.Namespace != w.ns {
				return builder.Plan[*Widget]{}
			}
			d := webDeployment()
			d.Name = owner.Name
			d.Spec.Template.Spec.Containers[0].Image = image
			return builder.Plan[*Widget]{Report: true, Children: []builder.Child{builder.Want(d, builder.ReadyWhen(ready))}}
		}).Complete())
	return start(w.t, mgr), sent
}

// images are the images of the widgets' Deployments, by name.
func (w *world) images(names ...string) (all []string) {
	for _, name := range names {
		var d appsv1.Deployment
		if err := w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: name}, &d); err != nil {
			return nil
		}
		all = append(all, d.Spec.Template.Spec.Containers[0].Image)
	}
	return all
}

// A new build changes one widget after the other on a real API server: across a restart, an abort and a resume, a user's change, and
// a rollback. What waits gets no write but its status.
func TestTurns(t *testing.T) {
	w := newWorld(t)
	testcluster.InstallCRDs(t, "testdata/crd")
	names := []string{"a", "b", "canary", "d"}
	for _, name := range names {
		widget := &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}
		if name == "canary" {
			widget.Labels = map[string]string{"armature.dev/canary": "true"}
		}
		require.NoError(t, w.live.Create(w.ctx, widget))
	}
	rollout := func() *turns.Rollout {
		all, err := turns.List(w.ctx, w.live, w.ns)
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.NoError(t, all[0].ReadOwners(w.ctx, w.live))
		return all[0]
	}
	areReady := func(image string, names ...string) {
		for _, name := range names {
			w.edit(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: name}}, func(obj client.Object) {
				obj.SetAnnotations(map[string]string{"ready": image, "armature.dev/digest": obj.GetAnnotations()["armature.dev/digest"]})
			})
		}
	}
	stop, _ := w.inTurns("web:1")
	w.eventually(func() bool { return len(w.images(names...)) == 4 }, "the Deployments")
	areReady("web:1", names...)
	w.eventually(func() bool { return rollout().State == turns.Complete }, "the first build to be everywhere")
	stop()

	stop, sent := w.inTurns("web:2")
	w.eventually(func() bool {
		r := rollout()
		return slices.Equal(w.images(names...), []string{"web:1", "web:1", "web:2", "web:1"}) && len(r.InTurn) == 1 && len(r.Waiting) == 3
	}, "the canary's turn")
	assert.Equal(t, "canary", rollout().InTurn[0].Name)
	var written []string
	for _, request := range sent.all() {
		if strings.Contains(request, "/deployments/") && !strings.HasPrefix(request, "GET ") && !strings.HasSuffix(request, "(dry run)") {
			written = append(written, request)
		}
	}
	require.NotEmpty(t, written)
	for _, request := range written {
		assert.Contains(t, request, "/deployments/canary")
	}

	w.edit(&Widget{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "d"}}, func(obj client.Object) {
		obj.(*Widget).Spec.Source = "changed by a user"
	})
	w.eventually(func() bool { return w.images("d")[0] == "web:2" }, "a user's change, which never waits")
	stop()

	require.NoError(t, turns.Abort(w.ctx, w.live, rollout()))
	stop, _ = w.inTurns("web:2")
	areReady("web:2", "canary", "d")
	w.eventually(func() bool { return len(rollout().InTurn) == 0 }, "the end of the canary's turn")
	assert.Equal(t, turns.Aborted, rollout().State)
	assert.Equal(t, []string{"web:1", "web:1", "web:2", "web:2"}, w.images(names...))
	require.NoError(t, turns.Resume(w.ctx, w.live, rollout()))
	w.eventually(func() bool { return len(rollout().InTurn) == 1 && len(rollout().Waiting) == 1 }, "the next turn")
	stop()

	stop, _ = w.inTurns("web:1")
	defer stop()
	w.eventually(func() bool {
		areReady("web:1", names...)
		return rollout().State == turns.Complete
	}, "the rollback")
	assert.Equal(t, []string{"web:1", "web:1", "web:1", "web:1"}, w.images(names...))
	var widget Widget
	require.NoError(t, w.live.Get(w.ctx, client.ObjectKey{Namespace: w.ns, Name: "canary"}, &widget))
	assert.True(t, meta.IsStatusConditionTrue(widget.Status.Conditions, events.ConditionReleased))
}
