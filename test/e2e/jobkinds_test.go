//go:build e2e

package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/armature-dev/armature/operators/replicajob"
)

// spread puts the ranks of a job on all nodes.
const spread = `          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: DoNotSchedule
            labelSelector: {matchExpressions: [{key: ` + replicajob.LabelType + `, operator: Exists}]}
`

// The ranks of the torch and TensorFlow style examples are on different nodes, and know each other by names only: DNS and
// the network between nodes have to be right. Their operators are containers as well.
func TestExampleJobKindsFindEachOtherByDNS(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		program, job string
		prints       map[string]string // by pod
	}{
		{"torchjob", "torchjob/allreduce", map[string]string{"allreduce-master-0": "10"}},
		{"tfjob", "tfjob/train", map[string]string{"train-chief-0": ""}},
	} {
		t.Run(tc.program, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			image := tc.program + ":e2e"
			s.operate(tc.program, image)
			// The pods' names are not in /etc/hosts here, so a rank that finds another has asked DNS.
			s.applyWith(tc.program+"/sample.yaml", "image: "+tc.program, "image: "+image, "          containers:", spread+"          containers:")
			s.await("Succeeded", tc.job)
			for pod, text := range tc.prints {
				assert.Contains(t, s.logs(pod), text)
			}
			used := map[string]bool{} // by any rank: those that still ran at the end are gone
			for _, w := range s.history() {
				if _, rank := w.object.Labels[replicajob.LabelType]; rank && w.resource == "pods/status" {
					used[w.object.Spec.NodeName] = true
				}
			}
			assert.Len(t, used, len(nodes), "ranks are on %v only", used)
		})
	}
}
