package fluxjob

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// The API server keeps what an earlier version wrote under the former names. The manager that is started then goes on with the
// job that runs and with the one that waits, and leaves only the new names.
func TestStatusesOfAnEarlierVersionAreTakenOver(t *testing.T) {
	p := newPlace(t)
	stop := p.manage()
	p.setup(clusters(1))
	p.submit("a", forever)
	p.waitState("a", v1alpha1.FluxJobRunning)
	p.submit("b", "true")
	p.waitReason("b", v1alpha1.ReasonWaitingForQuota)
	stop()

	before := p.job("a")
	cluster := &v1alpha1.MiniCluster{}
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(before), cluster))
	reservations, err := json.Marshal(p.queue(p.Namespace).Status.Reservations)
	require.NoError(t, err)
	p.writeStatus(before, `{"runs": 4, "attempts": null}`)
	former := strings.ReplaceAll(strings.ReplaceAll(string(reservations), `"attempt":1`, `"run":4`), `"attempt":`, `"run":`)
	p.writeStatus(p.queue(p.Namespace), fmt.Sprintf(`{"reservations": %s, "queue": null, "line": [{"namespace": %q, "name": "b", "reason": "InLine"}]}`,
		former, p.Namespace))

	p.manage()
	var job, queue string
	p.Eventually("the statuses have the new names only", func() bool {
		job, _ = p.Kubectl("get", "fluxjob", "a", "-o", "jsonpath=attempts {.status.attempts}, runs {.status.runs}.")
		queue, _ = p.Kubectl("get", "fluxsetup", p.Namespace, "-o", "jsonpath=attempt {.status.reservations[*].attempt}, "+
			"run {.status.reservations[*].run}, line {.status.line}, queue {.status.queue[*].reason}.")
		return job == "attempts 4, runs ." && queue == "attempt 4, run , line , queue WaitingForQuota."
	})
	assert.Equal(t, v1alpha1.FluxJobRunning, p.job("a").Status.State)
	uid := cluster.UID
	require.NoError(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(before), cluster))
	assert.Equal(t, uid, cluster.UID)
	assert.False(t, cluster.Spec.Suspend, "it runs on")

	require.NoError(t, p.Client.Delete(t.Context(), p.job("a")))
	p.waitState("b", v1alpha1.FluxJobSucceeded)
}

// writeStatus merges fields into the status of an object.
func (p *place) writeStatus(obj client.Object, fields string) {
	p.T.Helper()
	require.NoError(p.T, p.Client.Status().Patch(p.T.Context(), obj, client.RawPatch(types.MergePatchType, []byte(`{"status": `+fields+`}`))))
}
