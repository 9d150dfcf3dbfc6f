package minicluster

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/outcome"
)

// Whatever happens to pods, Jobs, the spec and the manager, in whatever order:
// the cluster is started at most backoffLimit + 1 times, it succeeds only if a leader did, it runs only while a leader
// is ready, an end is final, and its configuration doesn't change while it runs.
func TestAnyOrderOfEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int32Range(0, 2).Draw(t, "backoffLimit")
		c := makeCluster(rapid.Int32Range(1, 3).Draw(t, "size"), backoffLimit(limit), func(c *v1alpha1.MiniCluster) {
			c.Spec.MaxSize = 4
			if rapid.Bool().Draw(t, "deadline") {
				c.Spec.DeadlineSeconds = ptr.To[int64](60)
			}
		})
		w := newWorld(c)
		starts := map[string]bool{}
		leaderSucceeded := false
		var end *v1alpha1.MiniClusterStatus
		config := ""

		act := map[string]func(*rapid.T){
			"pass": func(*rapid.T) { w.pass() },
			"sync": func(*rapid.T) { w.sync() },
			"a pod is ready": func(t *rapid.T) {
				if i := drawPod(t, w); i >= 0 && !outcome.HasEnded(w.pod(i)) {
					w.ready(i)
				}
			},
			"a pod ends": func(t *rapid.T) {
				i := drawPod(t, w)
				if i < 0 || outcome.HasEnded(w.pod(i)) {
					return
				}
				code := rapid.SampledFrom([]int32{0, 1, exitWorker, exitKilled, exitStopped}).Draw(t, "code")
				if i > 0 && code == 1 {
					code = exitWorker // by its script
				}
				w.exit(i, code)
				leaderSucceeded = leaderSucceeded || (i == 0 && code == 0)
			},
			"a pod is deleted": func(t *rapid.T) {
				if i := drawPod(t, w); i >= 0 {
					w.vanish(i)
				}
			},
			"time passes": func(t *rapid.T) {
				w.now = w.now.Add(time.Duration(rapid.IntRange(1, 50).Draw(t, "seconds")) * time.Second)
			},
			"scale": func(t *rapid.T) {
				w.c.Spec.Size = rapid.Int32Range(1, 4).Draw(t, "size")
				w.c.Generation++
			},
			"suspend or resume": func(*rapid.T) {
				w.c.Spec.Suspend = !w.c.Spec.Suspend
				w.c.Generation++
			},
			"": func(t *rapid.T) { // what always holds
				if w.job != nil {
					starts[w.job.Labels[LabelAttempt]] = true
				}
				assert.LessOrEqual(t, len(starts), int(limit)+1)
				assert.LessOrEqual(t, w.c.Status.Restarts, limit)
				status := &w.c.Status
				if status.State == v1alpha1.MiniClusterStateSucceeded {
					assert.True(t, leaderSucceeded)
				}
				if end != nil {
					assert.Equal(t, end.State, status.State)
					assert.Equal(t, end.CompletionTime, status.CompletionTime)
					assert.Equal(t, end.ExitCode, status.ExitCode)
				} else if status.CompletionTime != nil {
					end = status.DeepCopy()
				}
				switch {
				case status.StartTime == nil:
					config = ""
				case config == "" || status.Leader == nil:
					config = brokerConfig(w.c) + settings(w.c) + runScript(w.c)
				default:
					assert.Equal(t, config, brokerConfig(w.c)+settings(w.c)+runScript(w.c))
				}
			},
		}
		t.Repeat(act)

		// Left alone, it comes to rest; and if the leader then succeeds, so does a cluster that hasn't ended.
		w.c.Spec.Suspend = false
		w.settle()
		if w.c.Status.CompletionTime != nil {
			return
		}
		require.NotNil(t, w.pod(0), "a leader")
		w.ready(0)
		w.settle()
		assert.True(t, apimeta.IsStatusConditionTrue(w.c.Status.Conditions, v1alpha1.MiniClusterRunning), w.c.Status.State)
		w.exit(0, 0)
		w.settle()
		assert.Equal(t, v1alpha1.MiniClusterStateSucceeded, w.c.Status.State)
	})
}

// drawPod chooses a rank that has a pod, -1 if there is none.
func drawPod(t *rapid.T, w *world) int {
	var ranks []int
	for _, p := range w.pods {
		ranks = append(ranks, outcome.Index(p))
	}
	if len(ranks) == 0 {
		return -1
	}
	return rapid.SampledFrom(ranks).Draw(t, "rank")
}

// A plan is a function: it changes nothing that it gets, and says the same of the same.
func TestPlansAreFunctions(t *testing.T) {
	for name, c := range goldens {
		w := newWorld(c.DeepCopy())
		for range 5 {
			owner, view := w.c.DeepCopy(), w.view()
			first := planner.Plan(owner, view)
			assert.Equal(t, w.c, owner, name)
			again := planner.Plan(owner, view)
			assert.Equal(t, inJSON(t, first), inJSON(t, again), name)
			for i := range first.Children {
				assert.Equal(t, first.Children[i].Object(), again.Children[i].Object(), name)
			}
			w.pass()
			w.sync()
		}
	}
}

// The key is in the Secret and nowhere else.
func TestTheKeyIsNowhereElse(t *testing.T) {
	key := z85([]byte("0123456789abcdef0123456789abcdef"))
	for name, c := range goldens {
		w := newWorld(c.DeepCopy())
		for range 4 {
			plan := w.pass()
			w.sync()
			for _, e := range plan.Events {
				assert.NotContains(t, e.Note, key, name)
			}
		}
		for _, o := range w.made {
			if _, ok := o.(*corev1.Secret); ok {
				assert.Contains(t, string(o.(*corev1.Secret).Data[curveKey]), key, name)
				continue
			}
			assert.NotContains(t, inJSON(t, o), key, name)
		}
		assert.NotContains(t, inJSON(t, w.c.Status)+inJSON(t, w.job), key, name)
	}
}

func inJSON(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}
