package release

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder/internal/turns"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
)

var webApp = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "WebApp"}

func owner(name string, m turns.Mark) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(webApp)
	u.SetNamespace("shop")
	u.SetName(name)
	var conditions []metav1.Condition
	m.Set(&conditions, 1, metav1.Now().Time)
	var list []any
	for _, c := range conditions {
		list = append(list, map[string]any{"type": c.Type, "status": string(c.Status), "reason": c.Reason, "message": c.Message})
	}
	u.Object["status"] = map[string]any{"conditions": list}
	return u
}

func record(state turns.State) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "system", Name: "rollout-webapp", Labels: map[string]string{wellknown.LabelReleases: "webapp"},
	}}
	turns.Record{ID: "id", Build: "b", State: state, Owner: webApp, Limit: "1"}.Write(cm)
	return cm
}

// ReadOwners reports the owners in their turn and those that wait; Abort and Resume change the record, and are repeatable.
func TestDecisions(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(
		record(turns.Progressing), owner("done", turns.Mark{ID: "id", Reason: events.ReasonReleased}), owner("none", turns.Mark{}),
		owner("broken", turns.Mark{ID: "id", Reason: events.ReasonRolloutHalted, Why: "no image"}),
		owner("next", turns.Mark{ID: "id", Reason: events.ReasonWaitingForTurn, Why: "restarts"}),
	).Build()
	list := func() *Rollout {
		all, err := List(t.Context(), c, "")
		require.NoError(t, err)
		require.Len(t, all, 1)
		require.NoError(t, all[0].ReadOwners(t.Context(), c))
		return all[0]
	}
	r := list()
	assert.Equal(t, Halted, r.State)
	assert.Equal(t, "webapp", r.Operator)
	assert.Equal(t, types.NamespacedName{Namespace: "system", Name: "rollout-webapp"}, r.Record)
	assert.Equal(t, 4, r.Owners)
	assert.Equal(t, []Owner{{Kind: "WebApp", Namespace: "shop", Name: "broken", Halts: true, Why: "no image"}}, r.InTurn)
	assert.Equal(t, []Owner{{Kind: "WebApp", Namespace: "shop", Name: "next", Why: "restarts"}}, r.Waiting)

	for range 2 {
		require.NoError(t, Abort(t.Context(), c, list()))
	}
	assert.Equal(t, Aborted, list().State)
	for range 2 {
		require.NoError(t, Resume(t.Context(), c, list()))
	}
	r = list()
	assert.Equal(t, Progressing, r.State)
	assert.True(t, r.InTurn[0].Passed)
	assert.Equal(t, []string{"shop/broken"}, r.record.Passed)

	stale := list()
	require.NoError(t, Abort(t.Context(), c, list()))
	require.ErrorContains(t, Resume(t.Context(), c, stale), "write the roll-out of the operator webapp: it has changed")
	assert.Equal(t, Aborted, list().State)
}

// The last status of its owners says when the operator last ran.
func TestWhenAReleaseWasWritten(t *testing.T) {
	at := func(hour int, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Subresource: subresource, Time: new(metav1.Date(2026, 1, 2, hour, 0, 0, 0, time.UTC))}
	}
	written := map[string][]metav1.ManagedFieldsEntry{
		"next": {at(1, "status"), at(2, "status"), at(5, "")}, "done": {at(3, "status")}, "other": {at(4, "status")},
	}
	c := fake.NewClientBuilder().WithObjects(
		record(turns.Progressing), owner("next", turns.Mark{ID: "id", Reason: events.ReasonWaitingForTurn}),
		owner("done", turns.Mark{ID: "id", Reason: events.ReasonReleased}), owner("other", turns.Mark{}),
	).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			if owners, ok := list.(*unstructured.UnstructuredList); ok {
				for i := range owners.Items {
					owners.Items[i].SetManagedFields(written[owners.Items[i].GetName()])
				}
			}
			return err
		},
	}).Build()
	all, err := List(t.Context(), c, "")
	require.NoError(t, err)
	require.NoError(t, all[0].ReadOwners(t.Context(), c))
	assert.Equal(t, 3, all[0].Written.UTC().Hour())
}

// An owner that is paused in its turn has no passes that could end the turn, or find that it isn't ready in time.
func TestAnOwnerThatIsPausedInItsTurnHaltsARelease(t *testing.T) {
	paused := owner("paused", turns.Mark{ID: "id", Reason: events.ReasonReleasing, Why: "0 of 1 ready"})
	paused.SetAnnotations(map[string]string{wellknown.AnnotationPaused: "true"})
	since := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	conditions, _, _ := unstructured.NestedSlice(paused.Object, "status", "conditions")
	conditions[0].(map[string]any)["lastTransitionTime"] = since.Format(time.RFC3339)
	require.NoError(t, unstructured.SetNestedSlice(paused.Object, conditions, "status", "conditions"))
	c := fake.NewClientBuilder().WithObjects(record(turns.Progressing), paused).Build()
	all, err := List(t.Context(), c, "")
	require.NoError(t, err)
	require.NoError(t, all[0].ReadOwners(t.Context(), c))
	assert.Equal(t, Halted, all[0].State)
	require.Len(t, all[0].InTurn, 1)
	assert.Equal(t, since.Unix(), all[0].InTurn[0].Since.Unix())
	all[0].InTurn[0].Since = nil
	assert.Equal(t, []Owner{{Kind: "WebApp", Namespace: "shop", Name: "paused", Halts: true, Why: "is paused; 0 of 1 ready"}}, all[0].InTurn)
	require.NoError(t, Resume(t.Context(), c, all[0]))
	assert.Equal(t, []string{"shop/paused"}, all[0].record.Passed)
}

// Other writes to the ConfigMap, such as a label, don't keep a user from deciding.
func TestADecisionIsWrittenAgainAfterAConflict(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(record(turns.Progressing)).Build()
	all, err := List(t.Context(), c, "")
	require.NoError(t, err)
	labelled := record(turns.Progressing)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(labelled), labelled))
	labelled.Labels["team"] = "shop"
	require.NoError(t, c.Update(t.Context(), labelled))

	require.NoError(t, Abort(t.Context(), c, all[0]))
	assert.Equal(t, Aborted, all[0].State)
	require.NoError(t, c.Get(t.Context(), client.ObjectKeyFromObject(labelled), labelled))
	assert.Equal(t, "shop", labelled.Labels["team"])
	assert.Equal(t, string(turns.Aborted), labelled.Data["state"])
}

// An abort needs no permission to list the owners, and works if they can't be listed.
func TestAbortDoesNotListTheOwners(t *testing.T) {
	c := interceptor.NewClient(fake.NewClientBuilder().WithObjects(record(turns.Progressing)).Build(), interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			if _, ok := list.(*unstructured.UnstructuredList); ok {
				return apierrors.NewForbidden(schema.GroupResource{Group: webApp.Group, Resource: "webapps"}, "", nil)
			}
			return c.List(ctx, list, opts...)
		},
	})
	all, err := List(t.Context(), c, "")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.NoError(t, Abort(t.Context(), c, all[0]))
	assert.Equal(t, Aborted, all[0].State)

	require.ErrorContains(t, Resume(t.Context(), c, all[0]), "the roll-out of ConfigMap system/rollout-webapp: list WebApp.example.com: ")
	assert.Equal(t, Aborted, all[0].State)
}

func TestNothingToDecide(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(record(turns.Complete)).Build()
	all, err := List(t.Context(), c, "system")
	require.NoError(t, err)
	require.ErrorContains(t, Abort(t.Context(), c, all[0]), "there is nothing to abort")
	require.ErrorContains(t, Resume(t.Context(), c, all[0]), "there is nothing to resume")
	none, err := List(t.Context(), c, "another")
	require.NoError(t, err)
	assert.Equal(t, []*Rollout{}, none, "as JSON, it is an empty list")

	broken := record("Paused")
	broken.Name = "z"
	require.NoError(t, c.Create(t.Context(), broken))
	all, err = List(t.Context(), c, "")
	require.ErrorContains(t, err, `data.state of ConfigMap system/z is "Paused"; accepted are Progressing, Aborted and Complete`)
	require.Len(t, all, 1, "the others are found")

	broken.Labels = map[string]string{wellknown.LabelReleases: "other"}
	require.NoError(t, c.Update(t.Context(), broken))
	all, err = List(t.Context(), c, "", "webapp")
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = List(t.Context(), c, "", "no name")
	require.ErrorContains(t, err, "the name of an operator")
}

type noManager struct{ manager.Manager }

func TestAround(t *testing.T) {
	for name, tt := range map[string]struct {
		options Options
		want    string
	}{
		"no number":         {Options{MaxOwners: "one", Namespace: "n"}, `the maximum number of owners is "one"`},
		"a negative number": {Options{MaxOwners: "-1", Namespace: "n"}, `the maximum number of owners is "-1"`},
		"more than all":     {Options{MaxOwners: "101%", Namespace: "n"}, `"101%"; accepted are`},
		"no namespace":      {Options{}, `the namespace of the roll-outs' records is ""`},
		"a negative time":   {Options{Namespace: "n", ReadyWithin: -1}, "must not be negative"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Around(noManager{}, tt.options)
			require.ErrorContains(t, err, tt.want)
		})
	}
	mgr, err := Around(noManager{}, Options{MaxOwners: "unlimited"})
	require.NoError(t, err)
	assert.Equal(t, noManager{}, mgr)

	mgr, err = Around(noManager{}, Options{Namespace: "n"})
	require.NoError(t, err)
	settings := mgr.(interface{ Turns() *turns.Settings }).Turns()
	assert.Len(t, settings.Build, 64)
	assert.Equal(t, 1, settings.Limit.Of(1000))
	again, err := Around(noManager{}, Options{Namespace: "n"})
	require.NoError(t, err)
	assert.Equal(t, mgr, again, "the same build")
}
