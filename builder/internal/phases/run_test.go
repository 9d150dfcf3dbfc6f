package phases

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/armature-dev/armature/builder/internal/payload"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/wellknown"
	"github.com/armature-dev/armature/store"
)

var phases = []string{"first", "second"}

// fixture is an owner with one ConfigMap in each phase, which has the name of the phase. It implements Cluster.
type fixture struct {
	t        *testing.T
	client   client.Client // of ControllerRevisions
	options  rollout.Options
	now      time.Time
	desired  map[string]string // versions, by name
	observed map[string]string // digests, by name
	ready    map[string]bool
	blocked  error

	comparisons []Comparison
	written     []string
	events      []string
}

func newFixture(t *testing.T, options rollout.Options) *fixture {
	options.Phases = phases
	return &fixture{
		t: t, client: fake.NewClientBuilder().WithScheme(scheme.Scheme).Build(), options: options, now: time.Unix(1_000_000, 0),
		desired: map[string]string{"first": "1", "second": "1"}, observed: map[string]string{}, ready: map[string]bool{},
	}
}

func (f *fixture) key(name string) store.Key {
	return store.KeyOf(corev1.SchemeGroupVersion.WithKind("ConfigMap"), "default", name)
}

func (f *fixture) snapshotOf(name string) revision.Child {
	fields := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "default", "name": name},
		"data": map[string]any{"version": f.desired[name]},
	}
	c := revision.Child{Version: "v1", Kind: "ConfigMap", Namespace: "default", Name: name, Phase: name}
	var err error
	c.Digest, err = payload.Digest(fields)
	require.NoError(f.t, err)
	c.Payload, err = revision.Payload(fields)
	require.NoError(f.t, err)
	return c
}

func (f *fixture) run() (Result, error) {
	f.written, f.events, f.comparisons = nil, nil, nil
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "uid"}}
	plan := Plan{Options: f.options, Blocked: f.blocked}
	var lines []string
	for i, name := range phases {
		plan.Children = append(plan.Children, Child{Index: i, Key: f.key(name), Phase: name})
		c := f.snapshotOf(name)
		lines = append(lines, c.Line())
	}
	plan.Hash = revision.Hash(Identity("test", owner), lines)
	return Run(f.t.Context(), plan, Host{
		Objects: revision.Objects{
			Client: f.client, Live: f.client, Controller: "test", Owner: owner, OwnerKind: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
		},
		Now:      func() time.Time { return f.now },
		Emit:     func(ev events.Event) { f.events = append(f.events, ev.Reason) },
		Describe: func(err error) (store.Key, string) { return store.Key{}, err.Error() },
	}, f)
}

func (f *fixture) pass() Result {
	f.t.Helper()
	res, err := f.run()
	require.NoError(f.t, err)
	return res
}

func (f *fixture) settle(names ...string) {
	for _, name := range names {
		f.ready[name] = true
	}
}

func (f *fixture) Compare(_ context.Context, child *Child, before *revision.Child) (Comparison, error) {
	var desired revision.Child
	if before != nil {
		desired = *before
	} else {
		desired = f.snapshotOf(child.Key.Name)
	}
	c := Comparison{Number: len(f.comparisons), Key: desired.Key(), Desired: desired.Digest, Observed: f.observed[desired.Name]}
	c.Creates, c.Changes = c.Observed == "", c.Observed != "" && c.Observed != c.Desired
	if !c.Creates {
		c.Object = &corev1.ConfigMap{}
	}
	f.comparisons = append(f.comparisons, c)
	return c, nil
}

func (f *fixture) Apply(_ context.Context, comparisons []Comparison) (out Outcome, err error) {
	for _, c := range comparisons {
		name := c.Key.Name
		if c.Writes() {
			f.observed[name], f.ready[name] = c.Desired, false
			f.written = append(f.written, name)
			out.Written = append(out.Written, c.Key)
		}
		if !f.ready[name] {
			out.NotReady = append(out.NotReady, ChildStatus{Key: c.Key, Phase: name, Message: "is not ready"})
		}
	}
	return out, nil
}

func (f *fixture) Snapshot() (all []revision.Child, err error) {
	for _, name := range phases {
		all = append(all, f.snapshotOf(name))
	}
	return all, nil
}

func (f *fixture) Owned(ctx context.Context, _ client.Object) (all []client.Object, err error) {
	var list appsv1.ControllerRevisionList
	err = f.client.List(ctx, &list, client.MatchingLabels{wellknown.LabelManagedBy: wellknown.ManagedBy}) // as a filtered cache
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, err
}

func (f *fixture) Delete(ctx context.Context, _ store.Key, observed client.Object) (bool, error) {
	return true, f.client.Delete(ctx, observed)
}

// installed returns a fixture whose first revision is completed.
func installed(t *testing.T, options rollout.Options) *fixture {
	f := newFixture(t, options)
	f.pass()
	f.settle(phases...)
	require.True(t, f.pass().Done)
	return f
}

// A filter of the cache hides a revision that has lost its label. It gets the label back, or each pass would fail with a conflict.
func TestARevisionWithoutTheLabelIsShownAgain(t *testing.T) {
	f := installed(t, rollout.Options{})
	var list appsv1.ControllerRevisionList
	require.NoError(t, f.client.List(t.Context(), &list))
	require.Len(t, list.Items, 1)
	hidden := list.Items[0].DeepCopy()
	delete(hidden.Labels, wellknown.LabelManagedBy)
	require.NoError(t, f.client.Update(t.Context(), hidden))
	_, err := f.run()
	assert.True(t, apierrors.IsConflict(err), "%v", err)
	assert.True(t, f.pass().Done)
	require.NoError(t, f.client.List(t.Context(), &list))
	require.Len(t, list.Items, 1)
	assert.Equal(t, wellknown.ManagedBy, list.Items[0].Labels[wellknown.LabelManagedBy])
	assert.Equal(t, hidden.UID, list.Items[0].UID)
}

func TestAFirstInstallIsMadeAtOnceAndRecordedWhenItIsReady(t *testing.T) {
	f := newFixture(t, rollout.Options{})
	res := f.pass()
	assert.Equal(t, phases, f.written)
	assert.Equal(t, rollout.Installing, res.Status.State)
	assert.False(t, res.Done)
	assert.Empty(t, f.events)
	f.settle(phases...)
	res = f.pass()
	assert.True(t, res.Done)
	assert.Equal(t, rollout.Completed, res.Status.State)
	assert.Equal(t, res.Status.To, res.Status.From)
	assert.Equal(t, []string{events.ReasonRolloutCompleted}, f.events)
}

func TestAChangeGoesPhaseByPhase(t *testing.T) {
	f := installed(t, rollout.Options{})
	f.desired = map[string]string{"first": "2", "second": "2"}
	res := f.pass()
	assert.Equal(t, []string{"first"}, f.written)
	assert.Equal(t, []store.Key{f.key("second")}, res.Paused)
	assert.Equal(t, "first", res.Status.Phase)
	assert.Equal(t, []string{events.ReasonRolloutStarted}, f.events)

	f.observed["second"] = "" // someone deletes it: it is restored to its state before the roll-out
	f.pass()
	assert.Equal(t, []string{"second"}, f.written)
	f.desired["second"] = "1"
	before := f.snapshotOf("second").Digest
	f.desired["second"] = "2"
	assert.Equal(t, before, f.observed["second"])

	f.settle("first")
	f.pass()
	assert.Equal(t, []string{"second"}, f.written)
	f.settle("second")
	assert.True(t, f.pass().Done)
}

func TestAnErrorOutsidePhasesPausesThemAll(t *testing.T) {
	f := installed(t, rollout.Options{})
	f.desired["first"] = "2"
	f.blocked = errors.New("no permission")
	res := f.pass()
	assert.Empty(t, f.written)
	assert.Equal(t, []store.Key{f.key("first")}, res.Paused)
}

func TestARollbackIsRecordedAndThenMade(t *testing.T) {
	f := installed(t, rollout.Options{RollbackAfter: time.Minute})
	f.desired["first"] = "2"
	res := f.pass()
	assert.Equal(t, f.now.Add(time.Minute), res.Status.RollsBackAt)
	assert.Equal(t, time.Minute, res.RequeueAfter)
	f.now = f.now.Add(time.Minute)
	res = f.pass()
	assert.Equal(t, rollout.RolledBack, res.Status.State)
	assert.Empty(t, f.written, "the next pass carries it out")
	assert.Nil(t, res.Restored)
	assert.Equal(t, atOnce, res.RequeueAfter)
	assert.Equal(t, []string{events.ReasonRolledBack}, f.events)
	assert.Equal(t, "not ready after 1m0s: phase first: ConfigMap default/first: is not ready", res.Status.Message)

	res = f.pass()
	assert.Equal(t, []string{"first"}, f.written)
	assert.Equal(t, []store.Key{f.key("first"), f.key("second")}, res.Restored)
	assert.False(t, res.Done)
	f.settle("first")
	assert.True(t, f.pass().Done)
}

func TestWhatIsNotReadyInTimeIsReported(t *testing.T) {
	f := installed(t, rollout.Options{AlertAfter: time.Minute})
	f.desired["first"] = "2"
	assert.Nil(t, f.pass().Failure)
	f.now = f.now.Add(time.Minute)
	res := f.pass()
	require.NotNil(t, res.Failure)
	assert.Equal(t, "phase first: ConfigMap default/first: not ready after 1m0s: is not ready", res.Failure.String())
	assert.Equal(t, rollout.Progressing, res.Status.State)
}

func TestChildrenOfAPausedPhase(t *testing.T) {
	before := &revision.Child{Digest: "old", Payload: []byte("{}")}
	for name, c := range map[string]struct {
		desired, observed string
		before            *revision.Child
		want              pausedAction
	}{
		"drifted":                           {"old", "old", before, correct},
		"deleted":                           {"old", "", before, correct},
		"drifted, and new in this revision": {"new", "new", nil, correct},
		"to be changed":                     {"new", "old", before, restore},
		"to be changed, and deleted":        {"new", "", before, restore},
		"to be created":                     {"new", "", nil, wait},
		"of a roll-out that was overtaken":  {"new", "other", before, wait},
		"a Secret, whose payload isn't in a revision": {"new", "old", &revision.Child{Digest: "old"}, wait},
	} {
		assert.Equal(t, c.want, whilePaused(Comparison{Desired: c.desired, Observed: c.observed}, c.before), name)
	}
}
