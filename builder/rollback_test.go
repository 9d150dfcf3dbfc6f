package builder

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

const patience = 5 * time.Minute

// stuckAtBroker is a town of which the upgrade to v2 gets as far as the broker.
func stuckAtBroker(t *testing.T) *town {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	w.install()
	w.want("v2")
	w.pass()
	w.now = w.now.Add(patience - time.Minute)
	w.settle("controller")
	w.pass()
	require.Equal(t, "v2 v2 v1", w.running())
	return w
}

func TestRollback(t *testing.T) {
	w := stuckAtBroker(t)
	from := w.pass().Rollout.From
	assert.Empty(t, w.writes)
	w.now = w.now.Add(patience - time.Second)
	res := w.pass()
	assert.Equal(t, time.Second, res.RequeueAfter, "each phase has its time")
	assert.Equal(t, w.now.Add(time.Second).Unix(), res.Rollout.RollsBackAt.Unix())
	w.restart(w.e.client) // the time is not in memory
	w.fail("broker")
	res = w.pass()
	require.NotNil(t, res.rolloutFailure())
	var conditions []metav1.Condition
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Contains(t, conditions[0].Message, "to be rolled back to "+from+" at 1970-")
	assert.Equal(t, metav1.ConditionFalse, conditions[2].Status, "something will happen")

	w.now = w.now.Add(time.Second)
	res = w.pass()
	assert.Equal(t, rollout.RolledBack, res.Rollout.State)
	assert.Equal(t, time.Millisecond, res.RequeueAfter, "at once")
	res = w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	assert.Equal(t, []string{"patch Deployment broker", "patch Deployment controller"}, w.writes, "the last phase first")
	assert.Zero(t, res.RequeueAfter)
	assert.Equal(t, from, res.Rollout.From)
	assert.Contains(t, res.Rollout.Message, "not ready after 5m0s: phase broker: Deployment.apps default/broker: ProgressDeadlineExceeded")
	res.SetConditions(&conditions, 1, nil, w.now)
	assert.Equal(t, events.ReasonRolledBack, conditions[0].Reason)
	assert.Contains(t, conditions[0].Message, res.Rollout.From)
	assert.Contains(t, conditions[0].Message, res.Rollout.To)
	assert.Equal(t, metav1.ConditionTrue, conditions[2].Status)
	assert.Equal(t, "RolledBack", w.told[len(w.told)-1])

	// It is remembered, and what drifts returns to what was before.
	w.restart(w.e.client)
	w.now = w.now.Add(time.Hour)
	w.pass()
	assert.Empty(t, w.writes)
	require.NoError(t, w.e.client.Delete(t.Context(), w.get("server")))
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	assert.Equal(t, []string{"1Completed", "2RolledBack"}, w.revisions())

	// Once something else was wanted it may be tried again.
	w.settle(phaseNames...)
	w.want("v3")
	w.pass()
	assert.Equal(t, "v3 v1 v1", w.running())
	w.want("v2")
	assert.Equal(t, rollout.Progressing, w.pass().Rollout.State)
	assert.Equal(t, "v2 v1 v1", w.running())
}

func TestRolledBackMayBeTriedAgainByHand(t *testing.T) {
	w := stuckAtBroker(t)
	w.now = w.now.Add(patience)
	res := w.pass()
	require.NoError(t, w.e.client.Delete(t.Context(), &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: res.Rollout.To}}))
	assert.Equal(t, rollout.Progressing, w.pass().Rollout.State)
}

func TestNoRollbackOfAFirstInstallOrWithoutThePolicy(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: time.Minute}
	w.pass()
	w.now = w.now.Add(time.Hour)
	assert.Equal(t, rollout.Installing, w.pass().Rollout.State)

	w = stuckAtBroker(t)
	w.options = rollout.Options{}
	w.now = w.now.Add(time.Hour)
	res := w.pass()
	assert.Equal(t, rollout.Progressing, res.Rollout.State)
	assert.Zero(t, res.RequeueAfter)
	w.settle("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v2", w.running())
}

func TestRollbackTakesBackWhatWasAdded(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	server := w.images["server"]
	delete(w.images, "server")
	w.install()
	w.want("v2")
	w.images["server"] = server
	w.pass()
	w.settle("controller")
	w.pass()
	w.settle("broker")
	w.pass()
	assert.Equal(t, "v2 v2 v1", w.running())
	w.now = w.now.Add(patience)
	w.pass()
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.running(), "pruned when all is ready")
	w.settle("controller", "broker")
	w.pass()
	assert.Equal(t, "v1 v1 -", w.running())
}

func TestRollbackOfUnstructuredChildren(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	value := "v1"
	w.change = func(b *Builder) {
		b.Object(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "loose"}, "data": map[string]any{"a": value},
		}}, InPhase("broker"))
	}
	w.install()
	value = "v2"
	w.want("v2")
	w.pass()
	config := &corev1.ConfigMap{}
	get := func() string {
		require.NoError(t, w.e.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "loose"}, config))
		return config.Data["a"]
	}
	assert.Equal(t, "v1", get())
	require.NoError(t, w.e.client.Delete(t.Context(), config))
	w.pass()
	assert.Equal(t, "v1", get(), "as it was")
	w.settle("controller")
	w.pass()
	assert.Equal(t, "v2", get())
	w.now = w.now.Add(patience)
	w.pass()
	w.pass()
	assert.Equal(t, "v1", get())
	assert.Equal(t, "v1 v1 v1", w.running())
	w.pass()
	assert.Empty(t, w.writes)
}

func TestSecretsAreNotKept(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	password := "hunter2"
	w.change = func(b *Builder) {
		b.Object(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, StringData: map[string]string{"password": password}}, InPhase("controller"))
	}
	w.install()
	password = "hunter3"
	w.want("v2")
	w.pass()
	var list appsv1.ControllerRevisionList
	require.NoError(t, w.e.client.List(t.Context(), &list))
	require.Len(t, list.Items, 2)
	for _, r := range list.Items {
		assert.NotContains(t, string(r.Data.Raw), "aHVudGVy")
		assert.NotContains(t, string(r.Data.Raw), "hunter")
	}
	w.now = w.now.Add(patience)
	w.pass()
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: "default", Name: "s"}
	require.NoError(t, w.e.client.Get(t.Context(), key, secret))
	assert.Equal(t, "hunter3", string(secret.Data["password"]), "it stays as it is")
	require.NoError(t, w.e.client.Delete(t.Context(), secret))
	w.pass()
	require.NoError(t, w.e.client.Get(t.Context(), key, secret))
}

func TestTooLargeForARollback(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: patience}
	var noise strings.Builder // which doesn't compress
	for i := range 20000 {
		sum := revision.Hash("", []string{fmt.Sprint(i)})
		noise.WriteString(sum + revision.Hash("", []string{sum}) + sum[:3] + fmt.Sprint(i))
	}
	w.change = func(b *Builder) {
		for i := range 3 {
			c := config(fmt.Sprint("c", i))
			c.Data["noise"] = fmt.Sprint(i, noise.String())
			b.ConfigMap(c, InPhase("controller"))
		}
	}
	w.install()
	w.want("v2")
	w.pass()
	w.now = w.now.Add(patience)
	res := w.pass()
	require.NotNil(t, res.rolloutFailure())
	assert.Contains(t, res.rolloutFailure().Message, "can't be rolled back")
	assert.Equal(t, "v2 v1 v1", w.running())
	assert.Zero(t, res.RequeueAfter)
}

// A rollback that is cut short by a crash before any of its writes ends as one that isn't.
func TestRollbackSurvivesCrashes(t *testing.T) {
	for budget := range 20 {
		w := stuckAtBroker(t)
		w.now = w.now.Add(patience)
		w.budget = budget
		if _, err := w.passErr(); err == nil {
			_, err = w.passErr()
			if err == nil && w.budget > 0 {
				return // nothing was left to crash at
			}
		}
		w.budget = -1
		w.restart(w.e.client)
		w.pass()
		w.pass()
		assert.Equal(t, "v1 v1 v1", w.running(), "crashed after %d writes", budget)
		assert.Equal(t, []string{"1Completed", "2RolledBack"}, w.revisions())
		w.pass()
		assert.Empty(t, w.writes)
	}
	t.Error("it never ran to its end")
}

// So does a roll-out.
func TestRolloutSurvivesCrashes(t *testing.T) {
	for budget := range 40 {
		w := newTown(t)
		w.options = rollout.Options{RollbackAfter: time.Hour}
		w.budget = budget
		crashed := false
		step := func() {
			if _, err := w.passErr(); err != nil {
				require.ErrorIs(t, err, errCrash)
				crashed = true
				w.budget = -1
				w.restart(w.e.client)
				w.pass()
			}
		}
		step()
		w.settle(phaseNames...)
		step()
		w.want("v2")
		for _, name := range phaseNames {
			step()
			w.settle(name)
		}
		step()
		assert.Equal(t, "v2 v2 v2", w.running(), "crashed after %d writes", budget)
		assert.Equal(t, []string{"1Completed", "2Completed"}, w.revisions())
		w.pass()
		assert.Empty(t, w.writes)
		if !crashed {
			return
		}
	}
	t.Error("it never ran to its end")
}

func TestEditedRevisionsAreOfNoOtherObjects(t *testing.T) {
	w := stuckAtBroker(t)
	p, err := w.e.newPass(owner())
	require.NoError(t, err)
	all, err := (&phasedChildren{pass: p}).Owned(t.Context(), &appsv1.ControllerRevision{})
	require.NoError(t, err)
	s, err := revision.ReadSnapshot(all[0].(*appsv1.ControllerRevision).Data.Raw)
	require.NoError(t, err)
	good := s.Children[0]
	_, err = p.cluster.Restore(&good, apply.Child{})
	require.NoError(t, err)
	for name, change := range map[string]func(*revision.Child){
		"not JSON":      func(c *revision.Child) { c.Payload = []byte("{") },
		"another kind":  func(c *revision.Child) { c.Kind = "StatefulSet" },
		"another name":  func(c *revision.Child) { c.Name = "other" },
		"another place": func(c *revision.Child) { c.Namespace = "other" },
		"elsewhere": func(c *revision.Child) {
			c.Namespace = "kube-system"
			c.Payload = []byte(strings.ReplaceAll(string(c.Payload), `"namespace":"default"`, `"namespace":"kube-system"`))
		},
		"another owner": func(c *revision.Child) {
			c.Payload = []byte(strings.ReplaceAll(string(c.Payload), "owner-uid", "other-uid"))
		},
		"no metadata": func(c *revision.Child) { c.Payload = []byte(`{"apiVersion":"apps/v1","kind":"Deployment"}`) },
		"unknown":     func(c *revision.Child) { c.Kind, c.Payload = "X", []byte(`{"apiVersion":"apps/v1","kind":"X"}`) },
	} {
		bad := good
		change(&bad)
		_, err := p.cluster.Restore(&bad, apply.Child{})
		assert.Error(t, err, name)
	}
}
