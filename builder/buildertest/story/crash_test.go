package story_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/story"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
)

const twoJobs = "testdata/crashes/two_jobs.txt"

func TestCrashEverywhere(t *testing.T) { story.CrashEverywhere(t, "testdata/crashes", *update, config) }

// forgetful is an operator with a memory: it labels each ConfigMap once in a process, one label more each time.
var forgetful = world.Operator{Owner: &corev1.ConfigMap{}, Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
	done := false
	return reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		if done {
			return reconcile.Result{}, nil
		}
		done = true
		owner := &corev1.ConfigMap{}
		if err := c.Get(ctx, r.NamespacedName, owner); err != nil {
			return reconcile.Result{}, err
		}
		if owner.Labels == nil {
			owner.Labels = map[string]string{}
		}
		owner.Labels[fmt.Sprint("seen-", len(owner.Labels))] = "yes"
		return reconcile.Result{}, c.Update(ctx, owner)
	}), nil
}}

// failures is a test that may fail.
type failures struct {
	testing.TB
	message string
}

func (f *failures) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	runtime.Goexit()
}

// failureOf returns the message with which a test fails.
func failureOf(t *testing.T, test func(testing.TB)) string {
	f := &failures{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.message
}

func TestCrashEverywhereFindsAnOperatorThatForgets(t *testing.T) {
	c := config
	c.Operators = append([]world.Operator{forgetful}, c.Operators...)
	scenario, _ := story.CrashScenario(t, twoJobs, c)
	message := failureOf(t, func(t testing.TB) { buildertest.CrashEverywhere(t, scenario) })
	assert.Contains(t, message, "crash after write 1 of 3 (update ConfigMap default/task): the end state differs")
	assert.Contains(t, message, "+    seen-1: \"yes\"")
}

func TestLagsOfALongRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lags.txt")
	require.NoError(t, os.WriteFile(file, []byte("lags 3 long=(0,1)\n----\n\nend list Pod\n----\n"), 0o600))

	t.Setenv(testsize.Env, "")
	_, lags := story.CrashScenario(t, file, config)
	assert.Equal(t, []int{3}, lags)

	t.Setenv(testsize.Env, "1")
	_, lags = story.CrashScenario(t, file, config)
	assert.Equal(t, []int{0, 1, 3}, lags)
}

func TestCrashEverywhereChecksInvariants(t *testing.T) {
	most := 2
	c := config
	c.Invariants = []buildertest.Invariant{func(ctx context.Context, c client.Reader) error {
		var jobs batchv1.JobList
		if err := c.List(ctx, &jobs); err != nil || len(jobs.Items) <= most {
			return err
		}
		return fmt.Errorf("%d Jobs", len(jobs.Items))
	}}
	scenario, _ := story.CrashScenario(t, twoJobs, c)
	settle := func(t testing.TB) { buildertest.Settle(t, scenario) }
	require.Empty(t, failureOf(t, settle))
	most = 1
	assert.Contains(t, failureOf(t, settle), "2 Jobs")
}

// lateNote creates a ConfigMap an hour after the one that it reconciles.
var lateNote = world.Operator{Owner: &corev1.ConfigMap{}, Reconciler: func(c *buildertest.Client) (reconcile.Reconciler, error) {
	return reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
		owner := &corev1.ConfigMap{}
		if err := c.Get(ctx, r.NamespacedName, owner); err != nil || owner.Name == "late" {
			return reconcile.Result{}, err
		}
		if left := time.Hour - c.Now().Sub(owner.CreationTimestamp.Time); left > 0 {
			return reconcile.Result{RequeueAfter: left}, nil
		}
		late := &corev1.ConfigMap{}
		late.Namespace, late.Name = owner.Namespace, "late"
		return reconcile.Result{}, client.IgnoreAlreadyExists(c.Create(ctx, late))
	}), nil
}}

// A poll of an operator hides no later request of another one in the process.
func TestCrashEverywhereRunsALaterRequestBesideAPoll(t *testing.T) {
	for name, result := range map[string]reconcile.Result{
		"each second":  {RequeueAfter: time.Second},
		"rate-limited": {Requeue: true},
	} {
		t.Run(name, func(t *testing.T) {
			poll := world.Operator{Owner: &corev1.ConfigMap{}, Reconciler: func(*buildertest.Client) (reconcile.Reconciler, error) {
				return reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return result, nil }), nil
			}}
			c := config
			c.Operators = append([]world.Operator{poll, lateNote}, c.Operators...)
			scenario, _ := story.CrashScenario(t, twoJobs, c)
			late := &corev1.ConfigMap{}
			at := client.ObjectKey{Namespace: "default", Name: "late"}
			assert.NoError(t, buildertest.Settle(t, scenario).Client().Get(t.Context(), at, late))
			buildertest.CrashEverywhere(t, scenario)
		})
	}
}
