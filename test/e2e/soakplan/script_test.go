package soakplan

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/operators/daemonjob"
	"github.com/armature-dev/armature/operators/jobflow"
)

const minutes = 10 * time.Minute

func TestTheSameSeedGivesTheSameScript(t *testing.T) {
	text := func(seed uint64, duration time.Duration) string {
		out, err := json.Marshal(New(seed, duration))
		require.NoError(t, err)
		return string(out)
	}
	for seed := range uint64(20) {
		assert.Equal(t, text(seed, minutes), text(seed, minutes))
		assert.NotEqual(t, text(seed, minutes), text(seed+1, minutes))
	}
}

func TestEveryScriptIsInOrder(t *testing.T) {
	for seed := range uint64(40) {
		for _, duration := range []time.Duration{time.Minute, 5 * time.Minute, minutes} {
			s := New(seed, duration)
			assert.True(t, slices.IsSortedFunc(s.Storm, func(a, b Step) int { return int(a.At - b.At) }))
			requireCreatedFirst(t, s)
			requireFaultsInTime(t, s)
		}
	}
}

// requireCreatedFirst fails if an object is created twice, not at all, or after something was asked of it.
func requireCreatedFirst(t *testing.T, s *Script) {
	t.Helper()
	created, names := map[*Object]bool{}, map[string]bool{}
	for _, step := range s.Storm {
		switch {
		case step.Object == nil:
		case step.Action == Create:
			require.False(t, created[step.Object], "seed %d: %s", s.Seed, step)
			require.False(t, names[step.Object.Made.GetName()], "seed %d: %s", s.Seed, step)
			created[step.Object], names[step.Object.Made.GetName()] = true, true
		default:
			require.True(t, created[step.Object], "seed %d: %s", s.Seed, step)
		}
	}
	for _, o := range s.Objects {
		require.True(t, created[o], "seed %d: %s", s.Seed, o)
	}
}

// requireFaultsInTime fails if a fault outlasts the storm, or one befalls a node while another does.
func requireFaultsInTime(t *testing.T, s *Script) {
	t.Helper()
	var free time.Duration
	for _, step := range s.Storm {
		if step.For > 0 {
			require.GreaterOrEqual(t, step.At, free, "seed %d: %s", s.Seed, step)
			free = step.At + step.For
		}
	}
	require.Less(t, free, s.StormEnds+10*time.Second)
	for _, step := range s.Gusts {
		require.NotContains(t, []Action{KillManager, Drain}, step.Action, "it would end a manager")
	}
}

// Both versions of each object have to be what its operator can carry out: it would start something, or wait.
func TestEveryObjectIsValid(t *testing.T) {
	for seed := range uint64(30) {
		s := New(seed, minutes)
		for _, o := range slices.Concat(s.Objects, s.Wave) {
			for _, made := range []any{o.Made, o.Final} {
				var conditions any
				switch made := made.(type) {
				case *v1alpha1.JobFlow:
					requireNoCycle(t, made)
					conditions = jobflow.Plan(made.DeepCopy(), buildertest.NewView(time.Unix(0, 0))).Status.Conditions
				case *v1alpha1.DaemonJob:
					conditions = daemonjob.Plan(made.DeepCopy(), buildertest.NewView(time.Unix(0, 0))).Status.Conditions
				}
				require.NotContains(t, fmt.Sprint(conditions), "InvalidSpec", "seed %d: %s", seed, o)
			}
		}
	}
}

func requireNoCycle(t *testing.T, flow *v1alpha1.JobFlow) {
	t.Helper()
	done := map[string]bool{}
	for len(done) < len(flow.Spec.Flows) {
		before := len(done)
		for _, n := range flow.Spec.Flows {
			if !slices.ContainsFunc(n.Dependencies, func(d string) bool { return !done[d] }) {
				done[n.Name] = true
			}
		}
		require.Greater(t, len(done), before, "a cycle in %s", flow.Name)
	}
}

func TestEveryPartHasAnEnd(t *testing.T) {
	for seed := range uint64(30) {
		for _, o := range New(seed, minutes).Objects {
			flow, ok := o.Final.(*v1alpha1.JobFlow)
			if !ok || o.Expect.End == Gone {
				continue
			}
			require.Len(t, o.Expect.Parts, len(flow.Spec.Flows)+len(flow.Spec.Finally), "seed %d: %s", seed, o)
			for name, ends := range o.Expect.Parts {
				require.NotContains(t, ends, PartEnd(""), "seed %d: %s of %s", seed, name, o)
			}
		}
	}
}

// All that the generator can draw is drawn in some script of some seeds.
func TestTheScriptsHaveEveryStoryAndFault(t *testing.T) {
	told := map[string]int{}
	for seed := range uint64(10) {
		s := New(seed, minutes)
		for _, o := range s.Objects {
			told[o.Story]++
			told[string(o.Expect.End)]++
		}
		for _, step := range s.Storm {
			told[strings.TrimSpace(string(step.Action)+" "+step.Target)]++
		}
	}
	for _, want := range []string{
		"flow", "flow, suspended and resumed", "flow that is retried", "flow that is edited", "flow that doesn't stay",
		"endless flow, terminated", "endless flow with a deadline", "endless flow, deleted",
		"DaemonJob, suspended and resumed", "DaemonJob that is mended and retried", "ReplicaJob whose workers fail once",
		"FluxJob", "FluxJob, deleted", "MiniCluster", "Succeeded", "Failed", "Gone",
		"kill a manager", "kill etcd", "kill kube-apiserver", "kill kube-scheduler", "kill kube-controller-manager",
		"drain node-2", "cordon node-3", "freeze the kubelet of minikube", "delete a pod", "delete a Job",
	} {
		assert.NotZero(t, told[want], "%s is in no script: %v", want, told)
	}
}
