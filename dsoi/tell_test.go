package dsoi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/dsoi/v1beta1"
)

func TestTransitions(t *testing.T) {
	of := func(state v1beta1.NodeTypeState, revision string) *v1beta1.ClusterStatus {
		return &v1beta1.ClusterStatus{NodeTypes: []v1beta1.NodeTypeStatus{{Name: "broker", State: state, Revision: revision, Ready: 1, Desired: 2}}}
	}
	ready, pending, progressing, failed := v1beta1.NodeTypeReady, v1beta1.NodeTypePending, v1beta1.NodeTypeProgressing, v1beta1.NodeTypeFailed
	tests := map[string]struct {
		before, after *v1beta1.ClusterStatus
		want          string
	}{
		"nothing is new":         {of(ready, "a"), of(ready, "a"), ""},
		"the first install":      {&v1beta1.ClusterStatus{}, of(progressing, "a"), ""},
		"it is changed":          {of(pending, "a"), of(progressing, "b"), "NodeTypeUpgrading: node type broker: revision b after a"},
		"it is ready":            {of(progressing, "b"), of(ready, "b"), "NodeTypeReady: node type broker: 1 of 2 pods are ready"},
		"it has failed":          {of(progressing, "b"), of(failed, "b"), "NodeTypeFailed: node type broker: boom"},
		"it is told once":        {of(failed, "b"), of(failed, "b"), ""},
		"a workload is deleted":  {of(ready, "b"), of(pending, ""), ""},
		"and is back":            {of(pending, ""), of(progressing, "b"), ""},
		"it waits for its turn":  {of(ready, "a"), of(pending, "a"), ""},
		"a number changes alone": {of(progressing, "a"), of(progressing, "a"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			told := transitions(tt.before, tt.after, map[string]string{"broker": "boom"})
			if tt.want == "" {
				assert.Empty(t, told)
				return
			}
			require.Len(t, told, 1)
			assert.Equal(t, tt.want, told[0].Reason+": "+told[0].Note)
		})
	}
}
