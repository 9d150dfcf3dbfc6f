package jobflow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/utils/ptr"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/operators/internal/lifecycle"
)

// The status that says that a flow has ended causes no pass by itself.
func TestTheEndIsFollowedByWhatComesNext(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*v1alpha1.JobFlowSpec)
		want   time.Duration
	}{
		"nothing":   {func(s *v1alpha1.JobFlowSpec) {}, 0},
		"a retry":   {func(s *v1alpha1.JobFlowSpec) { s.Retry = 1 }, lifecycle.Shortly},
		"retention": {func(s *v1alpha1.JobFlowSpec) { s.JobRetention = v1alpha1.RetainNone }, lifecycle.Shortly},
		"a TTL":     {func(s *v1alpha1.JobFlowSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](27) }, 28 * time.Second},
		"at once":   {func(s *v1alpha1.JobFlowSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](0) }, lifecycle.Shortly},
	} {
		flow := makeFlow(node("a"))
		tt.change(&flow.Spec)
		assert.Equal(t, tt.want, planOf(flow, failedJob("a")).RequeueAfter, name)
	}
}
