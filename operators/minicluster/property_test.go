package minicluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
	"github.com/armature-dev/armature/internal/testsize"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// Whatever happens to pods, Jobs, the spec and the manager, in whatever order: the cluster is started at most backoffLimit + 1 times, it
// succeeds only if a leader did, an end is final, and its configuration doesn't change while it runs.
func TestAnyOrderOfEvents(t *testing.T) {
	testsize.Cases(t, 15)
	scheme := testScheme(t)
	rapid.Check(t, func(t *rapid.T) {
		s := newSimulation(t, scheme)
		s.Repeat(map[string]func(*rapid.T){
			"steps": func(t *rapid.T) {
				for range rapid.IntRange(1, 20).Draw(t, "n") {
					s.step(t)
				}
			},
			"a pod ends": func(t *rapid.T) {
				if pod := s.draw(t); pod != nil {
					code := rapid.SampledFrom([]int32{0, 1, exitWorker, exitKilled, exitStopped, exitUnknown}).Draw(t, "code")
					if outcome.Index(pod) > 0 && code == 1 {
						code = exitWorker // by its script
					}
					require.NoError(t, s.Script(pod.Name, world.Script{Ends: true, ExitCode: code, Before: s.Now().Add(time.Second)}))
				}
			},
			"a pod is deleted": func(t *rapid.T) {
				if pod := s.draw(t); pod != nil {
					require.NoError(t, s.user.Delete(t.Context(), pod))
				}
			},
			"time passes": func(t *rapid.T) {
				s.Server().Clock().Step(time.Duration(rapid.IntRange(1, 50).Draw(t, "seconds")) * time.Second)
			},
			"scale": func(t *rapid.T) {
				s.edit(t, func(spec *v1alpha1.MiniClusterSpec) { spec.Size = rapid.Int32Range(1, 4).Draw(t, "size") })
			},
			"suspend or resume": func(t *rapid.T) {
				s.edit(t, func(spec *v1alpha1.MiniClusterSpec) { spec.Suspend = !spec.Suspend })
			},
			"crash": func(t *rapid.T) {
				s.Managers()[0].Client().CrashAfter(rapid.IntRange(0, 3).Draw(t, "writes"))
			},
			"": func(t *rapid.T) { s.check(t) },
		})

		// Left alone, it comes to rest; and if the leader then succeeds, so does a cluster that hasn't ended.
		require.NoError(t, s.Script("*", world.Script{}))
		s.edit(t, func(spec *v1alpha1.MiniClusterSpec) { spec.Suspend, spec.DeadlineSeconds = false, nil })
		require.NoError(t, s.Idle(t.Context(), 24*time.Hour))
		s.check(t)
		if s.c.Status.CompletionTime != nil {
			return
		}
		assert.True(t, apimeta.IsStatusConditionTrue(s.c.Status.Conditions, v1alpha1.MiniClusterRunning), s.c.Status.State)
		require.NoError(t, s.Script("demo-0-*", world.Script{Ends: true}))
		require.NoError(t, s.Idle(t.Context(), 24*time.Hour))
		s.check(t)
		assert.Equal(t, v1alpha1.MiniClusterStateSucceeded, s.c.Status.State)
	})
}

// simulation is a simulated cluster with a MiniCluster, and what must be remembered of its past.
type simulation struct {
	*rapid.T
	*world.World
	user *buildertest.Client

	c               *v1alpha1.MiniCluster // as of the last check
	pods            []*corev1.Pod
	starts          map[string]bool // the attempts of which a Job existed
	leaderSucceeded bool
	end             *v1alpha1.MiniClusterStatus // the first one with an end
	configs         map[types.UID]string        // the configurations, by the leader that runs with it
}

func newSimulation(t *rapid.T, scheme *runtime.Scheme) *simulation {
	c := makeCluster(rapid.Int32Range(1, 3).Draw(t, "size"), backoffLimit(rapid.Int32Range(0, 2).Draw(t, "backoffLimit")))
	c.Spec.MaxSize = 4
	if rapid.Bool().Draw(t, "deadline") {
		c.Spec.DeadlineSeconds = ptr.To[int64](60)
	}
	server := buildertest.NewServer(scheme, buildertest.WithStatusSubresource(c))
	require.NoError(t, server.Add(world.Node("n1"), c))
	s := &simulation{
		T: t, World: world.New(server, world.Options{}), user: server.Client("user"),
		c: c, starts: map[string]bool{}, configs: map[types.UID]string{},
	}
	_, err := s.AddManager("manager", operator)
	require.NoError(t, err)
	s.check(t)
	return s
}

// step runs one of the next steps, if there is any.
func (s *simulation) step(t *rapid.T) {
	steps, err := s.Steps()
	require.NoError(t, err)
	if len(steps) == 0 {
		return
	}
	require.NoError(t, steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")].Run(t.Context()))
	s.check(t)
}

// draw returns one of the pods, or nil if there is none.
func (s *simulation) draw(t *rapid.T) *corev1.Pod {
	if len(s.pods) == 0 {
		return nil
	}
	return s.pods[rapid.IntRange(0, len(s.pods)-1).Draw(t, "pod")].DeepCopy()
}

func (s *simulation) edit(t *rapid.T, change func(*v1alpha1.MiniClusterSpec)) {
	change(&s.c.Spec)
	require.NoError(t, s.user.Update(t.Context(), s.c))
}

// check checks what always holds.
func (s *simulation) check(t *rapid.T) {
	key := client.ObjectKeyFromObject(s.c)
	s.c, s.pods = &v1alpha1.MiniCluster{}, nil
	require.NoError(t, s.user.Get(t.Context(), key, s.c))
	for _, object := range s.Server().Stored() {
		switch o := object.(type) {
		case *batchv1.Job:
			s.starts[o.Labels[LabelAttempt]] = true
		case *corev1.Pod:
			s.pods = append(s.pods, o)
			s.leaderSucceeded = s.leaderSucceeded || outcome.Index(o) == 0 && o.Status.Phase == corev1.PodSucceeded
		}
	}
	status, limit := &s.c.Status, *s.c.Spec.BackoffLimit
	assert.LessOrEqual(t, len(s.starts), int(limit)+1)
	assert.LessOrEqual(t, status.Restarts, limit)
	if status.State == v1alpha1.MiniClusterStateSucceeded {
		assert.True(t, s.leaderSucceeded)
	}
	if s.end != nil {
		assert.Equal(t, s.end.State, status.State)
		assert.Equal(t, s.end.CompletionTime, status.CompletionTime)
		assert.Equal(t, s.end.ExitCode, status.ExitCode)
	} else if status.CompletionTime != nil {
		s.end = status.DeepCopy()
	}
	if status.StartTime == nil || status.Leader == nil {
		return
	}
	config := brokerConfig(s.c) + settings(s.c) + runScript(s.c)
	if known, ok := s.configs[status.Leader.UID]; ok {
		assert.Equal(t, known, config)
	}
	s.configs[status.Leader.UID] = config
}
