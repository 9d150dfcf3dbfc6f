package builder_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
)

// A child that is put back by two writes, a patch and an apply, is contested over the fields that the other writer changed,
// and not over what differs between the two.
func TestContestOfAChildThatNeedsTwoWrites(t *testing.T) {
	c := newCluster()
	rival := client.WithFieldOwner(c.server.Client("others"), "rival")
	pass := func() builder.Result {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"}, Ports: []corev1.ServicePort{{Name: "p", Port: 80}},
		}}
		res, err := c.engine.For(c.owner).Object(service).Reconcile(t.Context())
		require.NoError(t, err)
		return res
	}
	res := pass()
	for i := range int32(3) {
		found := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		c.get(found)
		found.Spec.Ports[0].Port = 81 + i
		require.NoError(t, rival.Update(t.Context(), found))
		res = pass()
		writes := c.server.Ledger().Writes()
		require.Equal(t, "patch Service default/web", writes[len(writes)-2].String())
		require.Equal(t, "apply Service default/web", writes[len(writes)-1].String())
	}
	require.Len(t, builder.Contested(res), 1)
	assert.Contains(t, builder.Contested(res)[0].String(), ": spec.ports keeps being changed by rival (Update); ")
}

// heardEvents are the reasons and notes of events.
type heardEvents []string

func (h *heardEvents) Eventf(_, _ runtime.Object, _, reason, _, _ string, args ...any) {
	*h = append(*h, reason+": "+args[0].(string))
}

// An adoption that takes two writes tells of the fields that stay of another manager, as one of one write does.
func TestFieldsLeftByAnAdoptionThatNeedsTwoWrites(t *testing.T) {
	c := newCluster()
	theirs := web("a")
	theirs.Namespace, theirs.Labels = "default", map[string]string{"theirs": "1"}
	theirs.Spec.Strategy.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxUnavailable: new(intstr.FromInt32(1))}
	require.NoError(t, client.WithFieldOwner(c.server.Client("others"), "old-operator").Create(t.Context(), theirs))
	heard := &heardEvents{}
	engine := buildertest.NewEngine(c, builder.Options{Name: "example", Recorder: heard}, buildertest.EngineOptions{Clock: c.Now})
	d := web("a")
	d.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	_, err := engine.For(c.owner).Deployment(d, builder.Adopt(builder.AdoptOptions{})).Reconcile(t.Context())
	require.NoError(t, err)
	writes := c.server.Ledger().Writes()
	require.Contains(t, fmt.Sprint(writes), "patch Deployment.apps default/web apply Deployment.apps default/web")
	require.Len(t, *heard, 3, "%s", *heard)
	assert.Contains(t, (*heard)[2], "FieldsLeft: Deployment web keeps metadata.labels.theirs")
}
