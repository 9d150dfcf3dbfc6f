package builder_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

var phaseNames = []string{"controller", "broker", "server"}

// phasedWorld is a simulated cluster with an owner that has a Deployment in each phase. The test runs the passes one by one, and selects
// the Deployments that roll out.
type phasedWorld struct {
	*world.World
	t      *testing.T
	ours   *buildertest.Client // of the operator's process
	others client.Client
	engine *builder.Engine

	owner    client.Object
	options  rollout.Options // without those that builder sets
	images   map[string]string
	replicas int32
	each     []builder.ChildOption  // of each Deployment
	more     func(*builder.Builder) // adds other children; nil: none
	record   *string                // the completed revision, if the plan gives it

	writes []string // of the last pass
	events []string // the reasons of all events about the roll-out
}

func newPhasedWorld(t *testing.T) *phasedWorld { return phasedWorldOf(t, newOwner()) }

func phasedWorldOf(t *testing.T, owner client.Object) *phasedWorld {
	server := buildertest.NewServer(flowScheme, buildertest.WithObjects(owner, world.Node("n1")))
	w := &phasedWorld{World: world.New(server, world.Options{}), t: t, others: server.Client("others"), owner: owner, replicas: 1}
	w.images = map[string]string{"controller": "v1", "broker": "v1", "server": "v1"}
	w.restart()
	return w
}

// restart starts a new process, which remembers nothing.
func (w *phasedWorld) restart() {
	w.ours = w.Server().Client("operator")
	w.engine = buildertest.NewEngine(w.ours, builder.Options{Name: "test", Recorder: w.ours.Recorder()},
		buildertest.EngineOptions{Clock: w.Now, Parallelism: 1})
}

// deployment returns the desired Deployment of a phase. Its pods have their image as a label. It fails if they aren't ready in a second.
func (w *phasedWorld) deployment(name, image string) *appsv1.Deployment {
	d := newOwner()
	d.ObjectMeta = metav1.ObjectMeta{Name: name}
	d.Spec.Replicas, d.Spec.ProgressDeadlineSeconds = new(w.replicas), new(int32(1))
	d.Spec.Selector.MatchLabels = map[string]string{"app": name}
	d.Spec.Template.Labels = map[string]string{"app": name, "image": image}
	d.Spec.Template.Spec.Containers[0].Image = image
	return d
}

func (w *phasedWorld) builder() *builder.Builder {
	options := w.options
	options.Phases = phaseNames
	if w.record != nil {
		options.CompletedRevision = new(*w.record)
	}
	b := w.engine.For(w.owner).Rollout(options).Prune(&appsv1.Deployment{})
	for _, name := range slices.Backward(phaseNames) {
		if image, ok := w.images[name]; ok {
			b.Deployment(w.deployment(name, image), append(w.each, builder.InPhase(name))...)
		}
	}
	if w.more != nil {
		w.more(b)
	}
	return b
}

func (w *phasedWorld) passErr() (builder.Result, error) {
	res, err := w.builder().Reconcile(w.t.Context())
	if owner, ok := w.owner.(builder.Conditioned); ok {
		res.SetConditions(owner.Conditions(), 1, err, w.Now())
	}
	if w.record != nil && res.Rollout != nil {
		*w.record = res.Rollout.From
	}
	w.writes = nil
	for _, call := range w.ours.Ledger().Writes() {
		w.writes = append(w.writes, call.String())
	}
	for _, e := range w.ours.Events() {
		if strings.HasPrefix(e.Reason, "Roll") {
			w.events = append(w.events, e.Reason)
		}
		if e.Reason == events.ReasonRanOnce || e.Reason == events.ReasonDeleted {
			assert.NotEmpty(w.t, e.Related, "client-go would merge %q with an event about another object", e.Note)
		}
	}
	w.ours.Ledger().Reset()
	w.ours.ResetEvents()
	return res, err
}

func (w *phasedWorld) pass() builder.Result {
	w.t.Helper()
	res, err := w.passErr()
	require.NoError(w.t, err)
	return res
}

func (w *phasedWorld) step(d time.Duration) { w.Server().Clock().Step(d) }

// rollOut lets the cluster act on the workloads of some names, and on their pods, until they rest.
func (w *phasedWorld) rollOut(names ...string) {
	w.t.Helper()
	require.NoError(w.t, w.SettleOnly(w.t.Context(), func(s world.Step) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(s.Name, name) })
	}))
}

// fail makes the pods of a Deployment's desired image unready, and lets its deadline pass. heal makes them ready.
func (w *phasedWorld) fail(name string) {
	w.t.Helper()
	w.script(name, world.Script{Unready: true})
	w.step(time.Second)
	w.rollOut(name)
}

func (w *phasedWorld) heal(name string) {
	w.t.Helper()
	w.script(name, world.Script{})
}

func (w *phasedWorld) script(name string, s world.Script) {
	w.t.Helper()
	s.Labels = map[string]string{"image": w.images[name]}
	require.NoError(w.t, w.Script(name+"-*", s))
	w.rollOut(name)
}

// install completes the first install.
func (w *phasedWorld) install() {
	w.pass()
	w.rollOut(phaseNames...)
	require.Equal(w.t, rollout.Completed, w.pass().Rollout.State)
	w.pass()
	require.Empty(w.t, w.writes)
}

// desire changes all images.
func (w *phasedWorld) desire(image string) {
	for name := range w.images {
		w.images[name] = image
	}
}

func (w *phasedWorld) get(name string) *appsv1.Deployment {
	w.t.Helper()
	d := &appsv1.Deployment{}
	require.NoError(w.t, w.others.Get(w.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, d))
	return d
}

func (w *phasedWorld) update(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.others.Update(w.t.Context(), obj))
}

func (w *phasedWorld) delete(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.others.Delete(w.t.Context(), obj, client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// deployed lists the images of the Deployments by phase; "-" is none.
func (w *phasedWorld) deployed() string {
	images := map[string]string{"controller": "-", "broker": "-", "server": "-"}
	var list appsv1.DeploymentList
	require.NoError(w.t, w.others.List(w.t.Context(), &list))
	for _, d := range list.Items {
		images[d.Name] = d.Spec.Template.Spec.Containers[0].Image
	}
	return images["controller"] + " " + images["broker"] + " " + images["server"]
}

// revisions lists the numbers and states of the revision history.
func (w *phasedWorld) revisions() (states []string) {
	var list appsv1.ControllerRevisionList
	require.NoError(w.t, w.others.List(w.t.Context(), &list))
	slices.SortFunc(list.Items, func(a, b appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) })
	for _, r := range list.Items {
		record, _ := revision.ReadRecord(&r, "test")
		states = append(states, fmt.Sprint(r.Revision, record.State))
	}
	return states
}

// paused returns the names of the children whose change waits for earlier phases.
func paused(res builder.Result) (names []string) {
	for _, child := range res.Pending {
		if child.Reason == events.ReasonRollingOut {
			names = append(names, child.Key.Name)
		}
	}
	return names
}
