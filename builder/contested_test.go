package builder_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/internal/wellknown"
)

// rivalry is an engine on an API server in memory, and others who write there.
type rivalry struct {
	t       *testing.T
	server  *buildertest.Server
	ours    *buildertest.Client
	others  client.Client
	engine  *builder.Engine
	owner   *appsv1.Deployment
	desired *appsv1.Deployment
	heard   []string
	mu      sync.Mutex
}

// unknownWriter is who is said to have removed what no field manager has in its record.
const unknownWriter = "an unknown writer, as no field manager claims the change"

func newRivalry(t *testing.T) *rivalry {
	r := &rivalry{t: t, owner: newOwner(), desired: newWorkload("web")}
	r.server = buildertest.NewServer(clientgoscheme.Scheme, buildertest.WithObjects(newOwner()))
	r.ours, r.others = r.server.Client("ours"), client.WithFieldOwner(r.server.Client("others"), "rival")
	r.restart()
	r.pass()
	return r
}

// restart begins another life of the program.
func (r *rivalry) restart() {
	r.engine = buildertest.NewEngine(r.ours, builder.Options{Name: "test", Recorder: r}, buildertest.EngineOptions{Clock: r.ours.Now})
}

func (r *rivalry) Eventf(_, _ runtime.Object, eventtype, reason, _, _ string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if reason == "Contested" || reason == "Settled" {
		r.heard = append(r.heard, eventtype+" "+reason+": "+args[0].(string))
	}
}

func (r *rivalry) pass(beside ...client.Object) builder.Result {
	r.t.Helper()
	b := r.engine.For(r.owner).Deployment(r.desired)
	for _, obj := range beside {
		b.Object(obj)
	}
	res, err := b.Reconcile(r.t.Context())
	require.NoError(r.t, err)
	return res
}

// edit changes the child as another writer.
func (r *rivalry) edit(change func(*appsv1.Deployment)) {
	r.t.Helper()
	d := r.child()
	change(d)
	require.NoError(r.t, r.others.Update(r.t.Context(), d))
}

func (r *rivalry) scaleTo(n int32) {
	r.edit(func(d *appsv1.Deployment) { d.Spec.Replicas = new(n) })
}

func (r *rivalry) child() *appsv1.Deployment {
	d := newWorkload("web")
	require.NoError(r.t, r.others.Get(r.t.Context(), client.ObjectKeyFromObject(d), d))
	return d
}

// rival is another writer that wants 5 replicas, and a controller that looks again when it has to. It returns what we wrote in
// a time.
func (r *rivalry) rival(during time.Duration) (corrections []time.Duration, last builder.Result) {
	begun := r.ours.Now()
	for now := time.Duration(0); now < during; now = r.ours.Now().Sub(begun) {
		if *r.child().Spec.Replicas != 5 {
			r.scaleTo(5)
		}
		last = r.pass()
		if len(last.Changes) > 0 {
			corrections = append(corrections, now)
			continue // an event at once
		}
		require.NotZero(r.t, last.RequeueAfter)
		r.server.Clock().Step(last.RequeueAfter)
	}
	return corrections, last
}

func TestContestedChildIsPutBackEverMoreRarely(t *testing.T) {
	r := newRivalry(t)
	corrections, res := r.rival(time.Hour)
	var seconds []int
	for _, at := range corrections {
		seconds = append(seconds, int(at.Seconds()))
	}
	assert.Equal(t, []int{0, 0, 0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 811}, seconds[:13], "at once, then doubled, up to 5 minutes")
	assert.LessOrEqual(t, len(seconds), 25)
	require.Len(t, builder.Contested(res), 1)
	assert.Equal(t, "web", builder.Contested(res)[0].Key.Name)
	assert.Contains(t, builder.Contested(res)[0].Message, "spec.replicas keeps being changed by rival (Update); it was put back at least 10 times")
	require.Len(t, r.heard, 1, "one event for the transition")
	assert.Equal(t, `Warning Contested: Deployment.apps default/web: spec.replicas keeps being changed by rival (Update); it was put back at least `+
		`3 times, and is put back ever more rarely, up to 5m0s apart. Stop one of the two writers, or leave the fields to the other by `+
		`builder.Ignore("spec.replicas")`, r.heard[0])

	// While the child is held, others go on, and another desired state is applied at once.
	r.pass()
	r.scaleTo(5)
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "beside"}}
	res = r.pass(config)
	require.Len(t, res.Changes, 1)
	assert.Equal(t, "beside", res.Changes[0].Key.Name)
	require.Len(t, builder.NotReady(res), 1, "the child isn't as desired")
	r.desired.Spec.Replicas = ptr.To[int32](2)
	assert.Len(t, r.pass(config).Changes, 1)
	assert.EqualValues(t, 2, *r.child().Spec.Replicas)
	r.rival(time.Second) // and is contested again

	// The other writer stops.
	begun := r.ours.Now()
	for res.RequeueAfter > 0 {
		res = r.pass(config)
		r.server.Clock().Step(res.RequeueAfter)
	}
	assert.Empty(t, builder.Contested(res))
	assert.LessOrEqual(t, r.ours.Now().Sub(begun), 16*time.Minute)
	require.Len(t, r.heard, 2)
	assert.Equal(t, "Normal Settled: no longer changed by others: Deployment.apps default/web", r.heard[1])
	r.scaleTo(9)
	assert.Len(t, r.pass(config).Changes, 1, "forgotten: put back at once")
	assert.Empty(t, builder.Contested(r.pass(config)))
}

// What isn't the same again and again is put back at once, always.
func TestDriftIsNoContest(t *testing.T) {
	for name, edit := range map[string]func(*rivalry, int){
		"one field, now and then": func(r *rivalry, _ int) {
			r.server.Clock().Step(61 * time.Second)
			r.scaleTo(7)
		},
		"other fields, at once": func(r *rivalry, i int) {
			r.edit(func(d *appsv1.Deployment) {
				switch i % 4 {
				case 0:
					d.Spec.Replicas = ptr.To[int32](7)
				case 1:
					d.Spec.Template.Spec.Containers[0].Image = "other"
				case 2:
					delete(d.Labels, wellknown.LabelManagedBy)
				case 3:
					d.Annotations[wellknown.AnnotationDigest] = "x"
				}
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRivalry(t)
			for i := range 8 {
				edit(r, i)
				assert.Len(t, r.pass().Changes, 1, "edit %d", i)
				assert.Empty(t, builder.Contested(r.pass()), "edit %d", i)
			}
			assert.Empty(t, r.heard)
		})
	}
}

// What is known of contests is in memory: another life learns it again.
func TestContestAfterARestart(t *testing.T) {
	r := newRivalry(t)
	_, res := r.rival(time.Minute)
	require.NotEmpty(t, builder.Contested(res))
	r.restart()
	corrections, res := r.rival(time.Minute)
	assert.NotEmpty(t, builder.Contested(res))
	assert.LessOrEqual(t, len(corrections), 10)
}

func TestContestNamesFieldsAndWriters(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*appsv1.Deployment)
		fields string
		by     string
	}{
		"a field of a list's element": {
			func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "other" },
			"spec.template.spec.containers[name=c].image", "rival (Update)",
		},
		"a label": {
			func(d *appsv1.Deployment) { d.Labels[wellknown.LabelManagedBy] = "rival" },
			"metadata.labels[app.kubernetes.io/managed-by]", "rival (Update)",
		},
		"a label that is removed": {
			func(d *appsv1.Deployment) { delete(d.Labels, wellknown.LabelManagedBy) },
			"metadata.labels[app.kubernetes.io/managed-by]", unknownWriter,
		},
		"the digest": {
			func(d *appsv1.Deployment) { delete(d.Annotations, wellknown.AnnotationDigest) },
			"metadata.annotations[armature.dev/digest]", unknownWriter,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRivalry(t)
			for range 3 {
				r.edit(c.edit)
				require.Len(t, r.pass().Changes, 1)
			}
			res := r.pass()
			require.Len(t, builder.Contested(res), 1)
			assert.Contains(t, builder.Contested(res)[0].String(), ": "+c.fields+" keeps being changed by "+c.by+"; ")
			r.edit(c.edit)
			assert.Empty(t, r.pass().Changes, "held")
		})
	}
}

// Two versions of one program write under the same name. Both run this code.
func TestTwoVersionsOfOneProgramAreCalmWithinAMinute(t *testing.T) {
	r := newRivalry(t)
	theirs := r.server.Client("the other version")
	other := buildertest.NewEngine(theirs, builder.Options{Name: "test"}, buildertest.EngineOptions{Clock: r.ours.Now})
	wanted := newWorkload("web")
	wanted.Spec.Template.Spec.Containers[0].Image = "newer"
	begun := r.ours.Now()
	writes := 0
	var one, two builder.Result
	for r.ours.Now().Sub(begun) < time.Minute {
		var err error
		two, err = other.For(r.owner).Deployment(wanted).Reconcile(t.Context())
		require.NoError(t, err)
		one = r.pass()
		if changes := len(one.Changes) + len(two.Changes); changes > 0 {
			writes += changes
			continue
		}
		r.server.Clock().Step(min(one.RequeueAfter, two.RequeueAfter))
	}
	assert.LessOrEqual(t, writes, 20)
	for _, res := range []builder.Result{one, two} {
		require.Len(t, builder.Contested(res), 1)
		assert.Regexp(t, `^spec.template.spec.containers\[name=c\].image keeps`, builder.Contested(res)[0].Message)
		assert.Contains(t, builder.Contested(res)[0].String(), "this controller's own name: stop the other instance or version of this program")
	}
	assert.Equal(t, builder.Contested(one)[0].String(), builder.Contested(two)[0].String(), "they don't contest the condition as well")
}

// A version of the program that doesn't know a child prunes what the other one creates.
func TestChildThatIsDeletedAgainAndAgain(t *testing.T) {
	r := newRivalry(t)
	begun := r.ours.Now()
	creations := 0
	var res builder.Result
	for r.ours.Now().Sub(begun) < 10*time.Minute {
		require.NoError(t, client.IgnoreNotFound(r.others.Delete(t.Context(), newWorkload("web"))))
		if res = r.pass(); len(res.Changes) > 0 {
			creations++
			continue
		}
		require.NotZero(t, res.RequeueAfter)
		r.server.Clock().Step(res.RequeueAfter)
	}
	assert.LessOrEqual(t, creations, 14, "at once, then ever more rarely")
	require.Len(t, builder.Contested(res), 1)
	assert.Equal(t, "Deployment.apps default/web: it keeps being deleted by another writer; it was created again at least 10 times, and is created "+
		"ever more rarely, up to 5m0s apart. Stop the other writer, such as another version of this program that prunes it",
		builder.Contested(res)[0].String())
	require.Len(t, r.heard, 1)

	// What the builder itself deletes is no contest.
	r = newRivalry(t)
	for range 10 {
		b := r.engine.For(r.owner).Prune(&appsv1.Deployment{})
		_, err := b.Reconcile(t.Context())
		require.NoError(t, err)
		assert.Len(t, r.pass().Changes, 1)
	}
	assert.Empty(t, builder.Contested(r.pass()))
	assert.Empty(t, r.heard)
}
