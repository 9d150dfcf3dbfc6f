package buildertest_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

// by makes a Scenario with a reconciler that is a function, for the ConfigMap "owner".
func by(reconciler func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error)) buildertest.Scenario {
	return buildertest.Scenario{
		Objects:  []client.Object{configMap("owner")},
		Requests: []reconcile.Request{request("owner")},
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				owner := &corev1.ConfigMap{}
				if err := c.Get(ctx, req.NamespacedName, owner); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				return reconciler(ctx, c, owner)
			}), nil
		},
	}
}

func jobOf(owner *corev1.ConfigMap, name string) *batchv1.Job {
	return owned(&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}},
	}, owner).(*batchv1.Job)
}

// chain runs three Jobs one after the other and then says that it is done.
func chain(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
	for i := range 3 {
		job := jobOf(owner, fmt.Sprintf("%s-%d", owner.Name, i))
		err := c.Get(ctx, client.ObjectKeyFromObject(job), job)
		if apierrors.IsNotFound(err) {
			return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, job))
		}
		if err != nil || job.Status.Succeeded == 0 {
			return reconcile.Result{}, err
		}
	}
	if owner.Data["state"] == "done" {
		return reconcile.Result{}, nil
	}
	owner.Data["state"] = "done"
	return reconcile.Result{}, c.Update(ctx, owner)
}

func TestCrashEverywhereOfASoundReconciler(t *testing.T) {
	s := by(chain)
	s.Objects = append(s.Objects, configMap("bystander"), world.Node("n1"))
	s.Cluster = world.Cluster(world.Options{Pods: world.JobsSucceed})
	buildertest.CrashEverywhere(t, s)
	s.Lag = 3
	buildertest.CrashEverywhere(t, s)
	s.LagOwnWrites = true
	buildertest.CrashEverywhere(t, s)

	server := buildertest.Settle(t, s)
	owner := configMap("owner")
	require.NoError(t, server.Client().Get(t.Context(), client.ObjectKeyFromObject(owner), owner))
	assert.Equal(t, "done", owner.Data["state"])
}

func TestCrashEverywhereOfAnEngine(t *testing.T) {
	owner := configMap("owner")
	owner.UID = "owner"
	stale := configMap("stale")
	s := buildertest.Scenario{
		Objects:  []client.Object{owner, owned(stale, owner), configMap("bystander"), world.Node("n1")},
		Requests: []reconcile.Request{request("owner")},
		Cluster:  world.Cluster(world.Options{}),
		Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
			engine := builder.NewEngine(c, builder.Options{Name: "web", Reader: c.Live()})
			for _, kind := range []client.Object{&appsv1.Deployment{}, &corev1.ConfigMap{}} {
				if err := engine.Index(t.Context(), c, kind); err != nil {
					return nil, err
				}
			}
			return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
				owner := &corev1.ConfigMap{}
				if err := c.Get(ctx, req.NamespacedName, owner); err != nil {
					return reconcile.Result{}, client.IgnoreNotFound(err)
				}
				image := "web:1"
				if web := deployment("web", ""); c.Get(ctx, client.ObjectKeyFromObject(web), web) == nil && web.Status.ReadyReplicas > 0 {
					image = "web:2" // an upgrade, once the first is up
				}
				res, err := engine.For(owner).
					ConfigMap(configMap("settings")).
					Deployment(deployment("web", image)).
					Prune(&corev1.ConfigMap{}).
					Reconcile(ctx)
				return reconcile.Result{RequeueAfter: res.RequeueAfter}, err
			}), nil
		},
	}
	buildertest.CrashEverywhere(t, s)
	s.Lag = 2
	buildertest.CrashEverywhere(t, s)

	server := buildertest.Settle(t, s)
	assert.False(t, exists(t, server.Client(), stale))
	assert.True(t, exists(t, server.Client(), configMap("bystander")))
}

func TestCrashEverywhereFindsTwins(t *testing.T) {
	err := buildertest.CheckCrashes(t.Context(), by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		if owner.Data["made"] != "" {
			return reconcile.Result{}, nil
		}
		child := owned(configMap(""), owner)
		child.SetGenerateName("child-")
		if err := c.Create(ctx, child); err != nil {
			return reconcile.Result{}, err
		}
		owner.Data["made"] = "yes"
		return reconcile.Result{}, c.Update(ctx, owner)
	}))
	require.ErrorContains(t, err, "crash after write 1 of 2")
	assert.ErrorContains(t, err, "the end state differs")
	assert.NotContains(t, err.Error(), "crash after write 2 of 2")
}

func TestCrashEverywhereFindsObjectsMadeTwice(t *testing.T) {
	err := buildertest.CheckCrashes(t.Context(), by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		if owner.Data["made"] != "" {
			return reconcile.Result{}, nil
		}
		child := owned(configMap("child"), owner)
		if err := client.IgnoreNotFound(c.Delete(ctx, configMap("child"))); err != nil { // to be sure
			return reconcile.Result{}, err
		}
		if err := c.Create(ctx, child); err != nil {
			return reconcile.Result{}, err
		}
		owner.Data["made"] = "yes"
		return reconcile.Result{}, c.Update(ctx, owner)
	}))
	assert.ErrorContains(t, err, "ConfigMap default/child was made 2 times, in peace 1 times")
}

func TestCrashEverywhereFindsWhatWasKeptInMemory(t *testing.T) {
	s := by(nil)
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		passes := 0
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			if passes++; passes > 3 {
				return reconcile.Result{}, nil
			}
			obj := &corev1.ConfigMap{}
			if err := c.Get(ctx, req.NamespacedName, obj); err != nil {
				return reconcile.Result{}, err
			}
			n, _ := strconv.Atoi(obj.Data["count"])
			obj.Data["count"] = strconv.Itoa(n + 1)
			return reconcile.Result{}, c.Update(ctx, obj)
		}), nil
	}
	err := buildertest.CheckCrashes(t.Context(), s)
	assert.ErrorContains(t, err, `-  count: "3"`)
	assert.ErrorContains(t, err, `+  count: "4"`)
}

// anHourAfterThree makes three objects, and an hour later calls then, with what the process has made itself.
func anHourAfterThree(then func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap, made int) error) buildertest.Scenario {
	s := by(nil)
	s.Reconciler = func(c *buildertest.Client) (reconcile.Reconciler, error) {
		made := 0
		return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			owner := &corev1.ConfigMap{}
			if err := c.Get(ctx, req.NamespacedName, owner); err != nil {
				return reconcile.Result{}, err
			}
			for i := range 3 {
				switch err := c.Create(ctx, owned(configMap(fmt.Sprint("child-", i)), owner)); {
				case err == nil:
					made++
				case !apierrors.IsAlreadyExists(err):
					return reconcile.Result{}, err
				}
			}
			if age := c.Now().Sub(owner.CreationTimestamp.Time); age < time.Hour {
				return reconcile.Result{RequeueAfter: time.Hour - age}, nil
			}
			return reconcile.Result{}, then(ctx, c, owner, made)
		}), nil
	}
	return s
}

func TestCrashesThatLeadToOneStateGoOnOnce(t *testing.T) {
	var made []int
	buildertest.CrashEverywhere(t, anHourAfterThree(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap, n int) error {
		if owner.Data["state"] == "done" {
			return nil
		}
		made = append(made, n)
		owner.Data["state"] = "done"
		return c.Update(ctx, owner)
	}))
	assert.Equal(t, []int{3, 0}, made, "without a crash, and after the last crash before the hour, by the process that remembers the least")
}

func TestCrashesThatLeadToOneStateFailAlike(t *testing.T) {
	err := buildertest.CheckCrashes(t.Context(), anHourAfterThree(
		func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap, made int) error {
			if made == 3 || owner.Data["state"] != "" {
				return nil
			}
			owner.Data["state"] = "confused"
			return c.Update(ctx, owner)
		}))
	require.ErrorContains(t, err, "state: confused")
	for k := range 3 {
		assert.ErrorContains(t, err, fmt.Sprintf("crash after write %d of 3", k+1))
	}
}

func TestCrashEverywhereFindsWritesToForeignObjects(t *testing.T) {
	s := by(func(ctx context.Context, c *buildertest.Client, _ *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, configMap("bystander")))
	})
	s.Objects = append(s.Objects, configMap("bystander"))
	assert.ErrorContains(t, buildertest.CheckCrashes(t.Context(), s), "not the operator's was written: delete ConfigMap default/bystander")
	s.Foreign = func(client.Object) bool { return false }
	assert.NoError(t, buildertest.CheckCrashes(t.Context(), s))
}

func TestCrashEverywhereFindsForeignObjectsAmongThoseOfDeleteAllOf(t *testing.T) {
	s := by(func(ctx context.Context, c *buildertest.Client, _ *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, c.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace("default"))
	})
	require.NoError(t, buildertest.CheckCrashes(t.Context(), s))
	s.Objects = append(s.Objects, configMap("bystander"))
	assert.ErrorContains(t, buildertest.CheckCrashes(t.Context(), s),
		"not the operator's was written: deletecollection ConfigMap default/bystander")
}

func TestNoFixedPoint(t *testing.T) {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		owner.Data["n"] += "x"
		return reconcile.Result{}, c.Update(ctx, owner)
	})
	s.MaxRounds = 5
	err := buildertest.CheckCrashes(t.Context(), s)
	require.ErrorContains(t, err, "no fixed point after 5 rounds")
	assert.ErrorContains(t, err, "update ConfigMap default/owner")
}

func TestErrorsThatStay(t *testing.T) {
	failing := func(err error) buildertest.Scenario {
		return by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
			if owner.Data["tried"] == "" {
				owner.Data["tried"] = "yes"
				return reconcile.Result{}, c.Update(ctx, owner)
			}
			return reconcile.Result{}, err
		})
	}
	sorry := errors.New("sorry")
	require.ErrorIs(t, buildertest.CheckCrashes(t.Context(), failing(sorry)), sorry)
	require.NoError(t, buildertest.CheckCrashes(t.Context(), failing(reconcile.TerminalError(sorry))))
	s := failing(sorry)
	s.Tolerate = func(err error) bool { return errors.Is(err, sorry) }
	require.NoError(t, buildertest.CheckCrashes(t.Context(), s))
}

func TestTimeMovesOnWhenNothingHappens(t *testing.T) {
	s := by(func(ctx context.Context, c *buildertest.Client, owner *corev1.ConfigMap) (reconcile.Result, error) {
		if age := c.Now().Sub(owner.CreationTimestamp.Time); age < time.Hour {
			return reconcile.Result{RequeueAfter: time.Hour - age}, nil
		}
		return reconcile.Result{}, client.IgnoreNotFound(c.Delete(ctx, owner))
	})
	buildertest.CrashEverywhere(t, s)
	server := buildertest.Settle(t, s)
	assert.Empty(t, server.Objects())
	assert.Equal(t, buildertest.Epoch.Add(time.Hour), server.Clock().Now())
}

func TestScenariosThatMakeNoSense(t *testing.T) {
	require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), buildertest.Scenario{}), "needs a Reconciler and Requests")
	idle := by(func(context.Context, *buildertest.Client, *corev1.ConfigMap) (reconcile.Result, error) {
		return reconcile.Result{}, nil
	})
	require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), idle), "wrote nothing")
	broken := by(nil)
	broken.Reconciler = func(*buildertest.Client) (reconcile.Reconciler, error) { return nil, errors.New("no") }
	require.ErrorContains(t, buildertest.CheckCrashes(t.Context(), broken), "make the reconciler: no")
}
