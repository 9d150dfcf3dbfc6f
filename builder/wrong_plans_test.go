package builder_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rollout"
	"github.com/armature-dev/armature/events"
)

// wrongPlan is a plan that can't be meant, made by an operator that Owns Jobs, and what its error must name.
type wrongPlan struct {
	plan  ownerFunc
	names []string
}

func wants(children ...builder.Child) ownerPlan { return ownerPlan{Children: children} }

func wrongPlans() map[string]wrongPlan {
	child := func(obj client.Object, opts ...builder.ChildOption) wrongPlan {
		return wrongPlan{plan: func(*appsv1.Deployment, builder.View) ownerPlan {
			return wants(builder.Want(newJob("good")), builder.Want(obj, opts...))
		}}
	}
	returns := func(plan ownerPlan, names ...string) wrongPlan {
		return wrongPlan{func(*appsv1.Deployment, builder.View) ownerPlan { return plan }, names}
	}
	looks := func(look func(builder.View), names ...string) wrongPlan {
		return wrongPlan{func(_ *appsv1.Deployment, v builder.View) ownerPlan { look(v); return wants(builder.Want(newJob("a"))) }, names}
	}
	says := func(p wrongPlan, names ...string) wrongPlan { p.names = names; return p }
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	elsewhere := newJob("a")
	elsewhere.Namespace = "kube-system"
	stranger := newJob("stranger")
	stranger.UID, stranger.ResourceVersion = "stranger", "1"
	invented := controlled(newJob("invented"), ownerUID)
	invented.UID, invented.ResourceVersion = "invented", "1"
	another := newOwner()
	another.Name, another.UID = "another", "another"
	thing := &unstructured.Unstructured{}
	thing.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"})
	thing.SetName("thing")
	calls := int32(0)

	return map[string]wrongPlan{
		// Children.
		"a nil child":                says(child(nil), "nil"),
		"a typed nil child":          says(child((*batchv1.Job)(nil)), "nil", "*v1.Job"),
		"the zero Child":             says(returns(wants(builder.Child{})), "nil"),
		"a child without a name":     says(child(&batchv1.Job{}), "metadata.name"),
		"a child with generateName":  says(child(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{GenerateName: "a-"}}), "generateName"),
		"a child twice":              returns(wants(builder.Want(newJob("a")), builder.Want(newJob("a"))), "a is desired twice"),
		"another namespace":          says(child(elsewhere), "metadata.namespace", "CrossNamespace"),
		"a cluster-scoped child":     says(child(&rbacv1.ClusterRole{ObjectMeta: named("a")}), "ClusterRole"),
		"an undeclared child":        says(child(&corev1.ConfigMap{ObjectMeta: named("a")}), "ConfigMap", "Owns(&corev1.ConfigMap{})"),
		"an undeclared unstructured": says(child(thing), "Owns(obj)", "apiVersion apps/v1", "kind StatefulSet"),
		"an undeclared cluster-scoped child": says(child(&rbacv1.ClusterRole{ObjectMeta: named("a")}, builder.CrossNamespace()),
			"ClusterRole", "Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace())"),
		"an undeclared child that is retained": says(child(&corev1.Secret{ObjectMeta: named("a")}, builder.Retain()),
			"Secret", "Owns(&corev1.Secret{})"),
		"a declared cross-namespace child": says(child(elsewhere, builder.CrossNamespace()), "Job", "Owns(&batchv1.Job{}, builder.CrossNamespace())"),
		"an unknown phase":                 says(child(newJob("a"), builder.InPhase("first")), "first", "Phases"),
		"phases without revisions":         returns(ownerPlan{Rollout: rollout.Options{Phases: []string{"one"}}, Children: []builder.Child{builder.Want(newJob("a"), builder.InPhase("one"))}}, "Owns(&appsv1.ControllerRevision{})"),
		"HashFrom of nil":                  says(child(newJob("a"), builder.HashFrom(nil)), "HashFrom"),
		"Ignore of a path that isn't":      says(child(newJob("a"), builder.Ignore("spec..[")), "ignore", "spec..["),
		"Ignore of an unknown field":       says(child(newJob("a"), builder.Ignore("spec.parallelisms")), "spec.parallelisms"),
		"another controller's child":       says(child(controlled(newJob("a"), "another")), "ownerReferences"),

		// What is done besides.
		"Prune of nil":                   returns(ownerPlan{Prune: []client.Object{nil}}, "nil"),
		"Prune of an undeclared kind":    returns(ownerPlan{Prune: []client.Object{&corev1.ConfigMap{}}}, "Prune", "Owns(&corev1.ConfigMap{})"),
		"Delete of nil":                  returns(ownerPlan{Delete: []client.Object{nil}}, "nil"),
		"Delete of what isn't observed":  returns(ownerPlan{Delete: []client.Object{newJob("made-up")}}, "made-up", "builder misused", "the view"),
		"Delete of another's":            returns(ownerPlan{Delete: []client.Object{stranger}}, "stranger"),
		"an Edit of nil":                 returns(ownerPlan{Edits: []builder.Edit{{}}}, "nil"),
		"an Edit to nil":                 returns(ownerPlan{Edits: []builder.Edit{{Before: stranger}}}, "stranger"),
		"an Edit of what isn't there":    returns(ownerPlan{Edits: []builder.Edit{{Before: invented, After: invented.DeepCopy()}}}, "invented", "view"),
		"Replicas of nil":                returns(ownerPlan{Edits: []builder.Edit{{Replicas: new(int32)}}}, "nil"),
		"Replicas of another's":          returns(ownerPlan{Edits: []builder.Edit{{Before: stranger, Replicas: new(int32)}}}, "stranger"),
		"Replicas beside After":          returns(ownerPlan{Edits: []builder.Edit{{Before: stranger, After: stranger, Replicas: new(int32)}}}, "After and Replicas"),
		"a RequeueAfter below zero":      returns(ownerPlan{RequeueAfter: -time.Second}, "RequeueAfter", "-1s"),
		"a StatusCanWait below zero":     returns(ownerPlan{StatusCanWait: -time.Second}, "StatusCanWait", "-1s"),
		"Finish without conditions":      returns(ownerPlan{Finish: func(*appsv1.Deployment, builder.Result) {}}, "Finish", "*v1.Deployment"),
		"WaitingFor without Report":      returns(ownerPlan{WaitingFor: []string{"a Secret"}}, "WaitingFor", "Report"),
		"WaitingFor nothing":             returns(ownerPlan{WaitingFor: []string{""}}, "WaitingFor", "empty"),
		"Report without conditions":      returns(ownerPlan{Report: true}, "Report", "*v1.Deployment"),
		"the status of another":          returns(ownerPlan{Status: another}, "Status", "another"),
		"InstallInOrder without Phases":  returns(ownerPlan{Rollout: rollout.Options{InstallInOrder: true}}, "InstallInOrder", "Phases"),
		"an event without a reason":      returns(ownerPlan{Events: []events.Event{{Note: "hello"}}}, "Events", "hello"),
		"an event of an unknown type":    returns(ownerPlan{Events: []events.Event{{Type: "Error", Reason: "A"}}}, "Events", "Error"),
		"an event with a long reason":    returns(ownerPlan{Events: []events.Event{{Reason: strings.Repeat("A", 129)}}}, "Events", "129", "128"),
		"an event about a nil object":    returns(ownerPlan{Events: []events.Event{events.Normal("A", "").About((*corev1.Pod)(nil))}}, "Events", "*v1.Pod"),
		"a RollbackAfter without Phases": returns(ownerPlan{Rollout: rollout.Options{RollbackAfter: time.Minute}}, "RollbackAfter", "Phases"),
		"the owner itself as Status":     {func(o *appsv1.Deployment, _ builder.View) ownerPlan { o.Status.Replicas++; return ownerPlan{Status: o} }, []string{"owner", "status.replicas"}},
		"a changed owner's status":       {func(o *appsv1.Deployment, _ builder.View) ownerPlan { o.Status.Replicas++; return ownerPlan{} }, []string{"owner", "status.replicas"}},
		"a changed owner's labels": {func(o *appsv1.Deployment, _ builder.View) ownerPlan {
			o.Labels = map[string]string{"a": "b"}
			return ownerPlan{}
		}, []string{"metadata.labels"}},
		"an owner changed by its copy": {func(o *appsv1.Deployment, _ builder.View) ownerPlan {
			c := *o
			c.Spec.Template.Spec.Containers[0].Image = "x"
			return ownerPlan{}
		}, []string{"spec.template.spec.containers"}},
		"a changed child": {func(_ *appsv1.Deployment, v builder.View) ownerPlan {
			builder.Owned[*batchv1.Job](v)[0].Status.Active++
			return ownerPlan{}
		}, []string{"*v1.Job default/there", "status.active"}},
		"a status that counts the calls": {func(o *appsv1.Deployment, _ builder.View) ownerPlan {
			calls++
			after := o.DeepCopy()
			after.Status.Replicas = calls
			return ownerPlan{Status: after}
		}, []string{"isn't pure", "Plan.Status", "status.replicas"}},
		"an event with a memory": {func(*appsv1.Deployment, builder.View) ownerPlan {
			calls++
			return ownerPlan{Events: []events.Event{events.Normal("Called", fmt.Sprint(calls))}}
		}, []string{"isn't pure", "Plan.Events"}},
		"a plan that panics": {func(*appsv1.Deployment, builder.View) ownerPlan { panic("a bug") }, []string{"panic", "a bug"}},
		"a plan that meets a nil": {func(o *appsv1.Deployment, _ builder.View) ownerPlan {
			o.Spec.Paused = *(*bool)(nil)
			return ownerPlan{}
		}, []string{"panic", "nil pointer"}},

		// What it asks its view.
		"Owned of an undeclared kind": looks(func(v builder.View) { builder.Owned[*appsv1.StatefulSet](v) }, "Owned[*v1.StatefulSet]", "Owns(&appsv1.StatefulSet{})"),
		"Lookup of an undeclared kind": looks(func(v builder.View) { builder.Lookup[*appsv1.StatefulSet](v, "a") },
			"Lookup[*v1.StatefulSet]", "Owns(&appsv1.StatefulSet{})", "Watches(&appsv1.StatefulSet{}, ReferencedBy(namesOf))"),
		"Owned of unstructured objects":   looks(func(v builder.View) { builder.Owned[*unstructured.Unstructured](v) }, "Owned[*unstructured.Unstructured]", "Owns"),
		"Owned of any kind":               looks(func(v builder.View) { builder.Owned[client.Object](v) }, "Owned[", "pointer"),
		"Watched of an undeclared kind":   looks(func(v builder.View) { builder.Watched[*corev1.Node](v) }, "Watched[*v1.Node]", "Watches(&corev1.Node{}, how)"),
		"Watched of a kind that is owned": looks(func(v builder.View) { builder.Watched[*batchv1.Job](v) }, "Watched[*v1.Job]", "Owned"),
		"Watched of an interface":         looks(func(v builder.View) { builder.Watched[client.Object](v) }, "an interface", "Watches("),
		"External without a function":     looks(func(v builder.View) { builder.External[int](v) }, "External[int]", "External("),
		"Rollout without revisions":       looks(func(v builder.View) { v.Rollout() }, "Owns(&appsv1.ControllerRevision{})"),
	}
}

// Each wrong plan is refused with an error that names what is wrong; nothing is silent, and nothing panics.
func TestWrongPlans(t *testing.T) {
	for name, c := range wrongPlans() {
		t.Run(name, func(t *testing.T) {
			there := controlled(newJob("there"), ownerUID)
			there.UID = "there"
			s := perform(t, c.plan, nil, there)
			require.NotPanics(t, func() {
				writes, _, err := s.pass()
				require.Error(t, err, "silent; it wrote %q", writes)
				assert.True(t, builder.IsTerminal(err) || isRefusal(err), "a retry can't help: %v", err)
				for _, word := range c.names {
					assert.ErrorContains(t, err, word)
				}
				assert.Empty(t, writes)
				if !isRefusal(err) {
					assert.Contains(t, fmt.Sprint(s.ours.Events()), events.ReasonInvalidPlan)
				}
			})
		})
	}
}

// A name that can't be a field manager would fail in each pass, as a fault of the first child.
func TestWrongNamesOfOperators(t *testing.T) {
	for name, want := range map[string]string{"": "no name", strings.Repeat("a", 129): "128", "a\tb": "invalid character"} {
		o := builder.NewOperator[*appsv1.Deployment](nil, name).Plan(func(*appsv1.Deployment, builder.View) ownerPlan { return ownerPlan{} })
		_, err := buildertest.NewReconciler(o, buildertest.NewServer(scheme.Scheme).Client("test"), time.Now)
		require.ErrorIs(t, err, builder.ErrMisuse, name)
		assert.ErrorContains(t, err, want, name)
	}
}

// isRefusal reports whether an error is that of an object that isn't the owner's.
func isRefusal(err error) bool { return errors.Is(err, builder.ErrNotOwned) }

// The same plans are refused without a cluster, as far as that doesn't take one.
func TestWrongPlansWithoutACluster(t *testing.T) {
	needsServer := []string{ // of the scheme, or of how a child is rendered
		"a cluster-scoped child", "Ignore of a path that isn't", "Ignore of an unknown field", "HashFrom of nil", "Prune of nil",
		"Delete of nil", "Delete of what isn't observed", "Delete of another's", "an Edit of nil", "an Edit to nil",
		"an Edit of what isn't there", "Replicas of nil",
		"Replicas of another's", "Replicas beside After",
	}
	for name, c := range wrongPlans() {
		there := controlled(newJob("there"), ownerUID)
		_, err := buildertest.PlanFor(describedBy(c.plan, nil), newOwner(), buildertest.NewView(time.Now(), there))
		if slices.Contains(needsServer, name) {
			continue
		}
		require.ErrorIs(t, err, builder.ErrMisuse, name)
		for _, word := range c.names {
			assert.ErrorContains(t, err, word, name)
		}
	}
	due := func(*appsv1.Deployment, builder.View) ownerPlan {
		return ownerPlan{RequeueAfter: -time.Second, DeleteOwner: true}
	}
	_, err := buildertest.PlanFor(describedBy(due, nil), newOwner(), buildertest.NewView(time.Now()))
	require.NoError(t, err, "its time is up")
	good := func(_ *appsv1.Deployment, v builder.View) ownerPlan {
		builder.Owned[*batchv1.Job](v)
		return wants(builder.Want(newJob("a")))
	}
	plan, err := buildertest.PlanFor(describedBy(good, nil), newOwner(), buildertest.NewView(time.Now()))
	require.NoError(t, err)
	assert.Len(t, plan.Children, 1)
	hurried := func(*appsv1.Deployment, builder.View) ownerPlan { return ownerPlan{RequeueAfter: 30} }
	_, err = buildertest.PlanFor(describedBy(hurried, nil), newOwner(), buildertest.NewView(time.Now()))
	require.ErrorContains(t, err, "Plan.RequeueAfter is 30ns")
	res, err := perform(t, hurried, nil).reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(newOwner())})
	require.NoError(t, err)
	assert.Equal(t, 50*time.Millisecond, res.RequeueAfter)
	_, err = buildertest.PlanFor(describedBy(good, nil), nil, buildertest.NewView(time.Now()))
	require.ErrorIs(t, err, builder.ErrMisuse)
	_, err = buildertest.PlanFor(describedBy(nil, nil), newOwner(), buildertest.NewView(time.Now()))
	require.ErrorIs(t, err, builder.ErrMisuse)
}

// What a plan reports may depend on the time.
func TestStatusWithTheTime(t *testing.T) {
	plan := func(o *appsv1.Deployment, v builder.View) ownerPlan {
		after := o.DeepCopy()
		after.Status.Replicas = int32(v.Now.Second())
		return ownerPlan{Status: after, Events: []events.Event{events.Normal("Called", v.Now.String())}}
	}
	_, err := buildertest.PlanFor(describedBy(plan, nil), newOwner(), buildertest.NewView(time.Now()))
	require.NoError(t, err)
}

// What is watched for another reason is declared, where a child isn't found by its controller.
func TestDeclaredOtherwise(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data"}}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	o := describedBy(func(*appsv1.Deployment, builder.View) ownerPlan {
		return wants(builder.Want(claim, builder.Retain()), builder.Want(role, builder.CrossNamespace()))
	}, func(o *operator) {
		o.Watches(&corev1.PersistentVolumeClaim{}, builder.Referencing(func(client.Object) []string { return nil })).Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace())
	})
	_, err := buildertest.PlanFor(o, newOwner(), buildertest.NewView(time.Now()))
	require.NoError(t, err)
}

// An owner that is being deleted loses its cross-namespace children also when the plan panics.
func TestAPanicDoesNotKeepAnOwner(t *testing.T) {
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	s := perform(t, func(owner *appsv1.Deployment, _ builder.View) ownerPlan {
		if owner.DeletionTimestamp != nil {
			panic("it goes")
		}
		return wants(builder.Want(role, builder.CrossNamespace()))
	}, func(o *operator) { o.Owns(&rbacv1.ClusterRole{}, builder.CrossNamespace()) })
	s.passes()
	require.NoError(t, s.others.Delete(t.Context(), newOwner()))
	for range 2 {
		_, _, _ = s.pass()
	}
	assert.Empty(t, s.server.Objects())
}

// A status that the API server refuses is in an event, as no condition can report it, and once.
func TestARefusedStatusIsAnEvent(t *testing.T) {
	s := perform(t, func(owner *appsv1.Deployment, _ builder.View) ownerPlan {
		after := owner.DeepCopy()
		after.Status.Replicas = -1
		return ownerPlan{Status: after}
	}, nil)
	s.ours.Fail(buildertest.Fault{Subresource: "status", Error: func(c buildertest.Call) error {
		return apierrors.NewInvalid(c.Kind, c.Name, field.ErrorList{field.Invalid(field.NewPath("status", "replicas"), -1, "must not be negative")})
	}})
	for range 2 {
		_, _, err := s.pass()
		require.True(t, builder.IsTerminal(err), err)
	}
	told := s.ours.Events()
	require.Len(t, told, 1)
	assert.Equal(t, events.ReasonApplyFailed, told[0].Reason)
	assert.Contains(t, told[0].Note, "write status of Deployment.apps default/owner")
	assert.Contains(t, told[0].Note, "status.replicas")
}
