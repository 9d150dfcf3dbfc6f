package effects_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/effects/effectstest"
	"github.com/armature-dev/armature/events"
	"github.com/armature-dev/armature/internal/testsize"
)

// desires is the annotation of an owner with its effects: "key=state key=state". A key that begins with a digit has that order, one that
// ends with ! is retained.
const desires = "desires"

// plan desires the effects of the owner's annotation, each with the Secret "password", if that exists.
func plan(owner *v1alpha1.JobFlow, observed builder.View) builder.Plan[*v1alpha1.JobFlow] {
	p := builder.Plan[*v1alpha1.JobFlow]{Report: true}
	for pair := range strings.FieldsSeq(owner.Annotations[desires]) {
		key, state, _ := strings.Cut(pair, "=")
		e := effects.Effect{Performer: "outside", Key: key, Payload: state, Retain: strings.HasSuffix(key, "!")}
		if key[0] >= '0' && key[0] <= '9' {
			e.Order = int64(key[0] - '0')
		}
		if secret, ok := builder.Lookup[*corev1.Secret](observed, "password"); ok {
			e.Secrets = []*corev1.Secret{secret}
		}
		p.Children = append(p.Children, effects.Want(owner, e))
		if status, ok := effects.Find(observed, "outside", key); !ok || !status.Done {
			p.WaitingFor = append(p.WaitingFor, key)
		}
	}
	return p
}

func operator(performer effects.Performer) *builder.Operator[*v1alpha1.JobFlow] {
	return builder.NewOperator[*v1alpha1.JobFlow](nil, "outside").
		Owns(&appsv1.ControllerRevision{}, effects.PerformedBy("outside", performer, effects.Options{})).
		Watches(&corev1.Secret{}, builder.ReferencedBy(func(*v1alpha1.JobFlow) []string { return []string{"password"} })).
		Plan(plan)
}

func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	return scheme
}

func newOwner(effects string) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "shop", UID: "5b0e", Annotations: map[string]string{desires: effects},
	}}
}

// has is a step that fails unless the system has exactly the things of an annotation.
func has(desired string) buildertest.Edit {
	return func(ctx context.Context, c client.Client) error {
		things, err := effectstest.Things(ctx, c)
		if err != nil {
			return err
		}
		var present []string
		for key, state := range things {
			present = append(present, key+"="+strings.Trim(state, `"`))
		}
		slices.Sort(present)
		if got := strings.Join(present, " "); got != desired {
			return fmt.Errorf("outside there is %q, desired is %q", got, desired)
		}
		return nil
	}
}

func desire(effects string) buildertest.Edit {
	return buildertest.Change(newOwner(""), func(owner *v1alpha1.JobFlow) { owner.Annotations[desires] = effects })
}

// Wherever the process crashes, after a write to the API server or outside, and in any order of passes on any state of their cache: in the
// end, the system has each desired effect in its desired state, and none else.
func TestEffectsSurviveACrashAnywhere(t *testing.T) {
	for name, c := range map[string]struct {
		effects string
		then    []buildertest.Edit
	}{
		"changed": {"1role=reader 2database=orders", []buildertest.Edit{
			desire("1role=writer 2database=orders 3kept!=a"),
			has("1role=writer 2database=orders 3kept!=a"),
			desire("2database=orders"),
			has("2database=orders 3kept!=a"),
			isReady,
		}},
		"no longer desired": {"1role=reader", []buildertest.Edit{
			desire(""),
			has(""),
			hasNoFinalizer,
			desire("1role=writer"),
			has("1role=writer"),
		}},
		"journals and a Secret edited": {"database=orders", []buildertest.Edit{
			func(ctx context.Context, c client.Client) error {
				return c.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "password"}})
			},
			deleteJournals,
			has("database=orders"),
			isReady,
		}},
		"owner deleted": {"1role=reader 2database=orders", []buildertest.Edit{
			func(ctx context.Context, c client.Client) error { return c.Delete(ctx, newOwner("")) },
			has(""),
			isGone,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var outside effectstest.System
			scenario := buildertest.Scenario{
				Scheme:  newScheme(t),
				Options: []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
				Objects: []client.Object{newOwner(c.effects)},
				Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
					return buildertest.NewReconciler(operator(outside.Through(c)), c, c.Now)
				},
				Cluster:  world.Cluster(world.Options{}),
				Requests: []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(newOwner(""))}},
				Then:     c.then,
			}
			buildertest.CrashEverywhere(t, scenario)
			bounds := buildertest.Bounds{Crashes: testsize.Pick(0, 1), StaleReads: testsize.Pick(0, 1), Edits: 1}
			assert.True(t, buildertest.Explore(t, scenario, bounds).Exhausted)
		})
	}
}

func hasNoFinalizer(ctx context.Context, c client.Client) error {
	owner := newOwner("")
	err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner)
	if err == nil && len(owner.Finalizers) > 0 {
		err = fmt.Errorf("an owner without effects has the finalizers %q", owner.Finalizers)
	}
	return err
}

func deleteJournals(ctx context.Context, c client.Client) error {
	return c.DeleteAllOf(ctx, &appsv1.ControllerRevision{}, client.InNamespace("default"))
}

func isReady(ctx context.Context, c client.Client) error {
	owner := newOwner("")
	if err := c.Get(ctx, client.ObjectKeyFromObject(owner), owner); err != nil {
		return err
	}
	ready := meta.FindStatusCondition(owner.Status.Conditions, events.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue {
		return fmt.Errorf("the owner isn't ready: %+v", ready)
	}
	return nil
}

func isGone(ctx context.Context, c client.Client) error {
	var journals appsv1.ControllerRevisionList
	if err := c.List(ctx, &journals); err != nil || len(journals.Items) > 0 {
		return fmt.Errorf("there are %d journals: %w", len(journals.Items), err)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(newOwner("")), newOwner("")); !apierrors.IsNotFound(err) {
		return fmt.Errorf("the owner is there: %w", err)
	}
	return nil
}

// The order of effects holds in both directions. A retained one stays.
func TestOrderOfEffects(t *testing.T) {
	f := newFixture(t, "2database=orders 1role=reader 1other=x 0kept!=a")
	f.settles()
	assert.Equal(t, []string{"do 0kept!", "do 1other", "do 1role", "do 2database"}, f.system.Calls())
	require.NoError(t, f.server.Client("user").Delete(t.Context(), newOwner("")))
	f.settles()
	assert.Equal(t, []string{"undo 2database", "undo 1role", "undo 1other"}, f.system.Calls()[4:])
	require.NoError(t, isGone(t.Context(), f.user))
	assert.Equal(t, map[string]string{"0kept!": `"a"`}, f.things())
}
