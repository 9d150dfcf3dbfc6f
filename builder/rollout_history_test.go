package builder_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rollout"
)

func TestNothingInPhasesIsNoInstall(t *testing.T) {
	w := newPhasedWorld(t)
	w.images = map[string]string{}
	w.pass()
	assert.Empty(t, w.revisions())
}

func TestForeignRevision(t *testing.T) {
	w := newPhasedWorld(t)
	res := w.pass()
	w.rollOut(phaseNames...)
	theirs := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: res.Rollout.To}}
	require.NoError(t, w.others.Create(t.Context(), theirs))
	_, err := w.passErr()
	assert.ErrorIs(t, err, builder.ErrNotOwned)
	assert.False(t, apierrors.IsConflict(err))
}

func TestRevisionWithoutItsMarkIsReplaced(t *testing.T) {
	w := newPhasedWorld(t)
	w.install()
	rev := &appsv1.ControllerRevision{}
	key := client.ObjectKey{Namespace: "default", Name: w.pass().Rollout.To}
	require.NoError(t, w.others.Get(t.Context(), key, rev))
	rev.Annotations = nil
	w.update(rev)
	_, err := w.passErr()
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	w.pass()
	assert.Equal(t, []string{"1Completed"}, w.revisions())
}

func TestRolloutInAView(t *testing.T) {
	w := newPhasedWorld(t)
	observed := func() (rollout.Status, bool) {
		var list appsv1.ControllerRevisionList
		require.NoError(t, w.others.List(t.Context(), &list))
		var all []client.Object
		for i := range list.Items {
			all = append(all, &list.Items[i])
		}
		all = append(all, &appsv1.ControllerRevision{})
		return buildertest.NewView(w.Now(), all...).Rollout()
	}
	_, ok := observed()
	assert.False(t, ok)
	w.install()
	r, ok := observed()
	assert.True(t, ok)
	assert.Equal(t, *w.pass().Rollout, r)
	first := r.From
	w.desire("v2")
	want := *w.pass().Rollout
	want.Phase = "" // it is kept for Rollback only
	want.StartedAt = want.StartedAt.Local()
	r, _ = observed()
	assert.Equal(t, want, r)

	for _, name := range phaseNames {
		w.rollOut(name)
		w.pass()
	}
	r, _ = observed()
	assert.Equal(t, rollout.Completed, r.State)
	assert.Equal(t, first, r.Before)
	assert.Equal(t, want.To, r.From)
}
