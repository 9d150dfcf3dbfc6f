package builder_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/builder/effects"
	"github.com/armature-dev/armature/builder/effects/effectstest"
	"github.com/armature-dev/armature/builder/record"
	"github.com/armature-dev/armature/builder/record/recordtest"
	"github.com/armature-dev/armature/builder/rollout"
)

// migrates is an operator whose effect, the schema of the owner's annotation, precedes a ConfigMap with the effect's result.
func migrates(performer effects.Performer) *builder.Operator[*v1alpha1.JobFlow] {
	return builder.NewOperator[*v1alpha1.JobFlow](nil, "migrates").
		Owns(&appsv1.ControllerRevision{}, effects.PerformedBy("schemas", performer, effects.Options{})).
		Owns(&corev1.ConfigMap{}).
		Plan(func(owner *v1alpha1.JobFlow, observed builder.View) builder.Plan[*v1alpha1.JobFlow] {
			schema := owner.Annotations["schema"]
			p := builder.Plan[*v1alpha1.JobFlow]{
				Report:  true,
				Rollout: rollout.Options{Phases: []string{"schema", "app"}, InstallInOrder: true},
				Children: []builder.Child{builder.Want(&corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: owner.Name}, Data: map[string]string{"schema": schema},
				}, builder.InPhase("app"))},
			}
			if schema != "" {
				p.Children = append(p.Children, effects.Want(owner, effects.Effect{
					Performer: "schemas", Key: "schema", Payload: schema,
				}, builder.InPhase("schema")))
			}
			return p
		})
}

func migrated(schema string) *v1alpha1.JobFlow {
	return &v1alpha1.JobFlow{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: "shop", UID: "5b0e", Annotations: map[string]string{"schema": schema},
	}}
}

// An effect in a phase comes before later phases, at an install and at each change, wherever the process crashes, and in any order of
// passes: the application never has a schema that isn't there.
func TestEffectsInPhases(t *testing.T) {
	precedes := func(schema string) buildertest.Edit {
		return func(ctx context.Context, c client.Client) error {
			outside, app, err := schemas(ctx, c)
			if err == nil && (outside != schema || app != schema) {
				err = fmt.Errorf("outside there is schema %q, and the application has %q; desired is %q", outside, app, schema)
			}
			return err
		}
	}
	check := func(ctx context.Context, c client.Reader) error {
		outside, app, err := schemas(ctx, c)
		if err == nil && app != "" && outside < app {
			err = fmt.Errorf("the application has schema %q, outside there is %q", app, outside)
		}
		return err
	}
	var system effectstest.System
	scenario := buildertest.Scenario{
		Scheme:  flowScheme,
		Options: []buildertest.Option{buildertest.WithStatusSubresource(&v1alpha1.JobFlow{})},
		Objects: []client.Object{migrated("v1")},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return buildertest.NewReconciler(migrates(system.Through(c)), c, c.Now)
		},
		Invariants: []buildertest.Invariant{check},
		Cluster:    world.Cluster(world.Options{}),
		Requests:   []reconcile.Request{{NamespacedName: client.ObjectKeyFromObject(migrated(""))}},
		Then: []buildertest.Edit{
			precedes("v1"),
			buildertest.Change(migrated(""), func(owner *v1alpha1.JobFlow) { owner.Annotations["schema"] = "v2" }),
			precedes("v2"),
		},
	}
	buildertest.CrashEverywhere(t, scenario)
	report := buildertest.Explore(t, scenario, buildertest.Bounds{Crashes: 1, StaleReads: 1})
	assert.True(t, report.Exhausted)
}

// schemas returns the schema outside, and that of the application.
func schemas(ctx context.Context, c client.Reader) (outside, app string, err error) {
	var config corev1.ConfigMap
	if err := client.IgnoreNotFound(c.Get(ctx, client.ObjectKeyFromObject(migrated("")), &config)); err != nil {
		return "", "", err
	}
	things, err := effectstest.Things(ctx, c)
	return strings.Trim(things["schema"], `"`), config.Data["schema"], err
}

// A preview lists the effects that would be performed and undone, and performs none. A replay needs no performer.
func TestEffectsArePreviewedAndReplayed(t *testing.T) {
	system := new(effectstest.System)
	server := buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}))
	require.NoError(t, server.Add(migrated("v1")))
	process, recorder := server.Client("migrates"), record.NewRecorder(1<<20)
	r, err := buildertest.NewReconciler(
		migrates(system.Through(process)), recordtest.Client{Client: process, Recorder: recorder}, process.Now)
	require.NoError(t, err)
	key := client.ObjectKeyFromObject(migrated(""))
	settle := func() {
		for range 8 {
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
			require.NoError(t, err)
		}
	}
	preview := func() (effects []string) {
		before := server.Version()
		res, err := builder.DiffOf(t.Context(), r, key)
		require.NoError(t, err)
		for _, s := range res.Pending {
			if s.Reason == "EffectPending" {
				effects = append(effects, s.Message)
			}
		}
		require.Equal(t, before, server.Version(), "a preview writes nothing")
		return effects
	}
	edit := func(schema string) {
		change := buildertest.Change(migrated(""), func(owner *v1alpha1.JobFlow) { owner.Annotations["schema"] = schema })
		require.NoError(t, change(t.Context(), server.Client("user")))
	}

	assert.Equal(t, []string{`effect schemas "schema" is to be performed`}, preview())
	assert.Empty(t, system.Calls())
	settle()
	assert.Equal(t, []string{"do schema"}, system.Calls())
	assert.Empty(t, preview())
	edit("v2")
	assert.Equal(t, []string{`effect schemas "schema" is to be performed`}, preview())
	settle()
	edit("")
	assert.Equal(t, []string{`effect schemas "schema" is to be undone`}, preview())
	assert.Equal(t, []string{"do schema", "do schema"}, system.Calls())
	settle()
	assert.Equal(t, []string{"do schema", "do schema", "undo schema"}, system.Calls())

	recordtest.Replay(t, recorder, migrates(system.Through(nil)), flowScheme)
	assert.Len(t, system.Calls(), 3)
}

// A preview shows a roll-out that would complete at once, though the API server has no revision of it to record that in.
func TestPreviewOfARolloutThatCompletesAtOnce(t *testing.T) {
	server := buildertest.NewServer(flowScheme, buildertest.WithStatusSubresource(&v1alpha1.JobFlow{}))
	require.NoError(t, server.Add(migrated("")))
	process := server.Client("migrates")
	r, err := buildertest.NewReconciler(migrates(new(effectstest.System).Through(process)), process, process.Now)
	require.NoError(t, err)
	res, err := builder.DiffOf(t.Context(), r, client.ObjectKeyFromObject(migrated("")))
	require.NoError(t, err)
	var created []string
	for _, change := range res.Changes {
		created = append(created, change.Reason+" "+change.Key.Kind)
	}
	assert.Contains(t, created, "Created ConfigMap")
}
