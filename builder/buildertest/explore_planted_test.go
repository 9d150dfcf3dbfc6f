package buildertest_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// bug is one planted in the operator of backups.
type bug string

const (
	none         bug = ""
	stale        bug = "it decides by its cache what can't be undone"
	unobserved   bug = "it waits for a state that it may miss"
	intermediate bug = "it makes the second object only together with the first"
	hotLoop      bug = "it writes in every pass"
	toggle       bug = "it changes its mind in every pass"
	lostUpdate   bug = "it writes the whole object without the version it read"
	doubleCreate bug = "it records a generated name after the creation"
	recreates    bug = "it deletes and creates, to be sure"
	recreatesAll bug = "it deletes all of a kind, and creates in the next pass"
	foreign      bug = "it deletes by name"
	foreignToo   bug = "it deletes all of a kind"
	backwards    bug = "it forgets that it was done"
	panics       bug = "it relies on an object that someone may delete"
	inMemory     bug = "it remembers a step only in memory"
	lostMemory   bug = "it remembers only in memory what it has created"
)

// backups is an operator written by hand: it runs a Job, tells a ConfigMap beside it about that, records in its owner that it is done,
// and deletes the Job. The bug says what is wrong with it.
type backups struct {
	bug    bug
	c      *buildertest.Client
	copied bool // for inMemory and lostMemory
}

func (b *backups) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	owner := &corev1.ConfigMap{}
	if err := b.c.Get(ctx, req.NamespacedName, owner); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	job := jobOf(owner, owner.Name+"-backup")
	err := b.c.Get(ctx, client.ObjectKeyFromObject(job), job)
	if client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, err
	}
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, b.start(ctx, owner, job)
	}
	return reconcile.Result{}, b.follow(ctx, owner, job)
}

// start begins what has not been done yet. The cache may not show that it was done, so it asks the API server.
func (b *backups) start(ctx context.Context, owner *corev1.ConfigMap, job *batchv1.Job) error {
	if b.bug != stale {
		if err := b.c.Live().Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
			return client.IgnoreNotFound(err)
		}
	}
	if owner.Data["phase"] == "done" && b.bug == backwards {
		owner.Data["phase"] = "lost"
		return b.c.Update(ctx, owner)
	}
	if owner.Data["phase"] == "done" || owner.Data["phase"] == "lost" {
		return b.afterwards(ctx, owner)
	}
	if b.bug == doubleCreate {
		if owner.Data["log"] != "" {
			return nil
		}
		log := owned(configMap(""), owner)
		log.SetGenerateName("log-")
		if err := b.c.Create(ctx, log); err != nil {
			return err
		}
		owner.Data["log"] = log.GetName()
		if err := b.c.Update(ctx, owner); err != nil {
			return err
		}
	}
	if b.bug == lostMemory && !b.copied {
		log := owned(configMap(""), owner)
		log.SetGenerateName("log-")
		if err := b.c.Create(ctx, log); err != nil {
			return err
		}
		b.copied = true
	}
	if b.bug == recreatesAll {
		if note := configMap(owner.Name + "-note"); b.c.Live().Get(ctx, client.ObjectKeyFromObject(note), note) == nil {
			named := client.MatchingFields{metav1.ObjectNameField: note.Name}
			return b.c.DeleteAllOf(ctx, note, client.InNamespace(note.Namespace), named)
		}
	}
	if b.bug != intermediate {
		if err := b.note(ctx, owner); err != nil {
			return err
		}
	}
	if err := b.c.Create(ctx, job); err != nil {
		return client.IgnoreAlreadyExists(err)
	}
	if b.bug == intermediate {
		return b.note(ctx, owner)
	}
	return nil
}

// note tells the ConfigMap beside the Job.
func (b *backups) note(ctx context.Context, owner *corev1.ConfigMap) error {
	note := owned(configMap(owner.Name+"-note"), owner)
	if b.bug == recreates {
		if err := client.IgnoreNotFound(b.c.Delete(ctx, note)); err != nil {
			return err
		}
	}
	return client.IgnoreAlreadyExists(b.c.Create(ctx, note))
}

// follow records the end of the Job, and then deletes it.
func (b *backups) follow(ctx context.Context, owner *corev1.ConfigMap, job *batchv1.Job) error {
	switch {
	case b.bug == unobserved && job.Status.Active > 0 && owner.Data["phase"] == "":
		owner.Data["phase"] = "running"
		return b.c.Update(ctx, owner)
	case b.bug == unobserved && owner.Data["phase"] == "":
		return nil
	case b.bug == inMemory && job.Status.Active > 0:
		b.copied = true
		return nil
	case job.Status.Succeeded == 0:
		return nil
	case b.bug == inMemory && !b.copied && owner.Data["phase"] == "":
		owner.Data["phase"], owner.Data["copied"] = "done", "no"
		return b.c.Update(ctx, owner)
	case owner.Data["phase"] != "done":
		owner.Data["phase"] = "done"
		if b.bug == lostUpdate {
			owner.ResourceVersion = ""
		}
		if err := b.c.Update(ctx, owner); err != nil {
			return err
		}
	}
	if b.bug == panics {
		note := configMap(owner.Name + "-note")
		if err := b.c.Get(ctx, client.ObjectKeyFromObject(note), note); err != nil {
			panic(err)
		}
	}
	if b.bug == foreignToo {
		return b.c.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(owner.Namespace), client.PropagationPolicy(metav1.DeletePropagationBackground))
	}
	name := job.Name
	if b.bug == foreign {
		name = strings.TrimPrefix(name, "owner-")
	}
	return client.IgnoreNotFound(b.c.Delete(ctx, jobOf(owner, name), client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// afterwards is what an operator should leave alone.
func (b *backups) afterwards(ctx context.Context, owner *corev1.ConfigMap) error {
	switch b.bug {
	case hotLoop:
		n, _ := strconv.Atoi(owner.Data["passes"])
		owner.Data["passes"] = strconv.Itoa(n + 1)
	case toggle:
		owner.Data["even"] = strconv.FormatBool(owner.Data["even"] != "true")
	default:
		return nil
	}
	return b.c.Update(ctx, owner)
}

// backup is a scenario with a planted bug. A user edits the owner at any time.
func backup(b bug) buildertest.Scenario {
	return buildertest.Scenario{
		Objects: []client.Object{
			configMap("owner"), configMap("bystander"), world.Node("n1"),
			&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "backup"}, Status: batchv1.JobStatus{
				StartTime: &metav1.Time{Time: buildertest.Epoch}, Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}},
			}},
		},
		Requests: []reconcile.Request{request("owner")},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return &backups{bug: b, c: c}, nil
		},
		Cluster:      world.Cluster(world.Options{Pods: world.JobsSucceed}),
		LagOwnWrites: true,
		Then: []buildertest.Edit{
			buildertest.Change(configMap("owner"), func(o *corev1.ConfigMap) { o.Data["edited"] = "yes" }),
		},
		Final: func(obj *unstructured.Unstructured) string {
			if phase, _, _ := unstructured.NestedString(obj.Object, "data", "phase"); phase == "done" {
				return phase
			}
			return ""
		},
		Normalize: func(obj *unstructured.Unstructured) bool {
			unstructured.RemoveNestedField(obj.Object, "data", "log")
			return true
		},
	}
}

// withoutNote is a backup whose note a user deletes.
func withoutNote(b bug) buildertest.Scenario {
	s := backup(b)
	s.Then = []buildertest.Edit{func(ctx context.Context, c client.Client) error {
		return client.IgnoreNotFound(c.Delete(ctx, configMap("owner-note")))
	}}
	s.Normalize = func(obj *unstructured.Unstructured) bool { return obj.GetName() != "owner-note" } // who was first?
	return s
}

// running is a backup whose Job takes a second.
func running(b bug) buildertest.Scenario {
	s := backup(b)
	s.Cluster = world.Cluster(world.Options{Pods: func(*corev1.Pod) world.Script { return world.Script{Ends: true, Run: time.Second} }})
	return s
}

// The bounds within which the bugs are found.
var (
	bounds = buildertest.Bounds{Crashes: 1, StaleReads: 1, Lag: 2, Edits: 1, Coarse: true}
	each   = buildertest.Bounds{EachStep: true}                             // the operator may miss that a Job is active
	kept   = buildertest.Bounds{Crashes: 1, KeepMemory: true, Coarse: true} // an operator with a bug in its memory needs it
)

func TestExploreFindsNothingInTheOperatorWithoutBugs(t *testing.T) {
	buildertest.Explore(t, backup(none), bounds)
	buildertest.Explore(t, running(none), kept)
	buildertest.Explore(t, backup(none), each)
	buildertest.Explore(t, withoutNote(none), bounds)
}

func TestExploreFindsPlantedBugs(t *testing.T) {
	for name, c := range map[string]struct {
		bug      bug
		scenario func(bug) buildertest.Scenario
		bounds   buildertest.Bounds
		want     error
	}{
		"stale state":                          {stale, backup, bounds, buildertest.ErrCreatedTwice},
		"unobserved state":                     {unobserved, backup, each, buildertest.ErrOtherEnd},
		"unobserved state, by default":         {unobserved, backup, buildertest.Bounds{}, buildertest.ErrOtherEnd},
		"intermediate state":                   {intermediate, backup, bounds, buildertest.ErrOtherEnd},
		"hot loop":                             {hotLoop, backup, bounds, buildertest.ErrNoRest},
		"toggle":                               {toggle, backup, bounds, buildertest.ErrNoRest},
		"lost update":                          {lostUpdate, backup, bounds, buildertest.ErrOtherEnd},
		"double create":                        {doubleCreate, backup, bounds, buildertest.ErrOtherEnd},
		"lost reply":                           {doubleCreate, backup, buildertest.Bounds{LostReplies: 1, Coarse: true}, buildertest.ErrOtherEnd},
		"created twice":                        {recreates, backup, bounds, buildertest.ErrCreatedTwice},
		"created twice, after all are deleted": {recreatesAll, backup, buildertest.Bounds{Crashes: 1, Coarse: true}, buildertest.ErrCreatedTwice},
		"not owned":                            {foreign, backup, bounds, buildertest.ErrNotOwned},
		"not owned, among all":                 {foreignToo, backup, bounds, buildertest.ErrNotOwned},
		"backwards":                            {backwards, backup, bounds, buildertest.ErrBackwards},
		"panic":                                {panics, withoutNote, bounds, buildertest.ErrPanic},
		"memory":                               {inMemory, running, kept, buildertest.ErrOtherEnd},
		"memory of a lost reply":               {lostMemory, backup, buildertest.Bounds{LostReplies: 1, KeepMemory: true, Coarse: true}, buildertest.ErrOtherEnd},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := buildertest.FindCounterexample(t.Context(), c.scenario(c.bug), c.bounds)
			require.ErrorIs(t, err, c.want)
			t.Log(err)
			var found *buildertest.Counterexample
			require.ErrorAs(t, err, &found)
			again := buildertest.Replay(t.Context(), c.scenario(c.bug), c.bounds, found.Error())
			assert.EqualError(t, again, found.Error())
			assert.NoError(t, buildertest.Replay(t.Context(), c.scenario(none), c.bounds, ""))
		})
	}
}

func TestACounterexampleSaysWhatItsPassesWrote(t *testing.T) {
	for _, c := range []struct {
		bug    bug
		bounds buildertest.Bounds
		lines  string
	}{
		{intermediate, bounds, `
  1. pass of default/owner, crash after write 1: create Job.batch default/owner-backup
     - create Job.batch default/owner-backup
`},
		{doubleCreate, buildertest.Bounds{LostReplies: 1, Coarse: true}, `
  1. pass of default/owner, the reply to write 1 is lost: create ConfigMap default/log-00001
     - create ConfigMap default/log-00001: Timeout: request did not complete within the allotted timeout: create
     - error: Timeout: request did not complete within the allotted timeout: create
`},
	} {
		_, err := buildertest.FindCounterexample(t.Context(), backup(c.bug), c.bounds)
		require.Error(t, err)
		assert.Contains(t, "\n"+err.Error(), c.lines)
	}
}
