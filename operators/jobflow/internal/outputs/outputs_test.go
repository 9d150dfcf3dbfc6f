package outputs

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

var ended = metav1.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// wrote returns a pod that has succeeded, with a termination message.
func wrote(text string) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: text}},
	}}
	return pod
}

func TestObserve(t *testing.T) {
	for name, tt := range map[string]struct {
		text, value, lost string
	}{
		"text":           {text: "42", value: "42"},
		"empty":          {},
		"invalid UTF-8":  {text: "a\xffb", value: "a\uFFFDb"},
		"longest":        {text: strings.Repeat("x", maxLength-1), value: strings.Repeat("x", maxLength-1)},
		"may be cut":     {text: strings.Repeat("x", maxLength), lost: "4096 bytes or more"},
		"not a variable": {text: "a\x00b", lost: "NUL byte"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Of(nil)
			assert.Zero(t, s.Observe("a", &ended, []*corev1.Pod{wrote(tt.text)}, ended.Time))
			value, err := s.Value("a", 1000)
			assert.Equal(t, tt.value, value)
			if tt.lost == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.lost)
			}
			assert.Zero(t, s.Observe("a", &ended, []*corev1.Pod{wrote("something else")}, ended.Time))
			assert.Equal(t, tt.value, s["a"].Value, "what was read stays")
		})
	}
}

func TestPodsThatAreNotInTheCache(t *testing.T) {
	s := Of(nil)
	assert.Zero(t, s.Observe("a", nil, nil, ended.Time))
	assert.Equal(t, Timeout, s.Observe("a", &ended, nil, ended.Time), "they may come")
	assert.Empty(t, s)
	_, err := s.Value("a", 1000)
	assert.ErrorContains(t, err, `the output of flow "a" is lost`)

	assert.Zero(t, s.Observe("a", &ended, nil, ended.Add(Timeout)))
	_, err = s.Value("a", 1000)
	assert.ErrorContains(t, err, "its pods were deleted before it was read")
	assert.Zero(t, s.Observe("a", &ended, []*corev1.Pod{wrote("too late")}, ended.Add(Timeout)))
	assert.NotEmpty(t, s["a"].Lost, "what is lost stays lost")
}

func TestRecord(t *testing.T) {
	output := func(name string, size int) v1alpha1.FlowOutput {
		return v1alpha1.FlowOutput{Name: name, Value: strings.Repeat("x", size)}
	}
	names := func(all []v1alpha1.FlowOutput) (names []string) {
		for _, o := range all {
			names = append(names, o.Name)
		}
		return names
	}
	recorded := []v1alpha1.FlowOutput{output("a", 50), output("c", 100), output("removed", 10)}
	s := Of(recorded)
	s["b"], s["d"], s["e"] = output("b", 100), output("d", 20), output("e", 20)

	assert.Equal(t, []string{"a", "b", "c", "d", "e"}, names(s.Record([]string{"a", "b", "c", "d", "e", "unknown"}, recorded, 1000)))
	assert.Equal(t, []string{"b", "d"}, names(s.Record([]string{"b", "d"}, recorded, 1000)), "nobody needs the others")
	limit := sizeOf(s["a"]) + sizeOf(s["c"]) + sizeOf(s["d"])
	assert.Equal(t, []string{"a", "c", "d"}, names(s.Record([]string{"a", "b", "c", "d", "e"}, recorded, limit)),
		"recorded ones stay, and b and e don't fit beside them")
	assert.Equal(t, []string{"a", "c"}, names(s.Record([]string{"a", "b", "c"}, recorded, 0)), "recorded ones stay under a lower limit")
	assert.Nil(t, s.Record(nil, recorded, 1000))
}
