package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestAnImmutableChildIsHashedOnce(t *testing.T) {
	d := deployment("web")
	c := Want(d, InPhase("a")).Immutable()
	first, ok := c.hash()
	assert.True(t, ok)
	d.Spec.Paused = true
	again, _ := c.hash()
	assert.Equal(t, first, again, "as it was promised")
	thawed, _ := Want(d, InPhase("a")).hash()
	assert.NotEqual(t, first, thawed)
}

func TestChildWithMore(t *testing.T) {
	c := Want(deployment("web"), Ignore("spec.replicas"), InPhase("a")).Immutable()
	hash, _ := c.hash()
	more := c.With(Ignore("spec.paused"), ReadyWhen(func(client.Object) Readiness { return Readiness{Failed: true} }))
	other := c.With(Ignore("spec.revisionHistoryLimit"))
	assert.Equal(t, []string{"spec.replicas"}, c.how.Ignored, "it stays as it is")
	assert.Equal(t, []string{"spec.replicas", "spec.paused"}, more.how.Ignored)
	assert.Equal(t, []string{"spec.replicas", "spec.revisionHistoryLimit"}, other.how.Ignored)
	assert.Equal(t, "a", more.phase)
	assert.NotNil(t, more.readyWhen)
	assert.Nil(t, c.readyWhen)
	with, _ := more.hash()
	assert.NotEqual(t, hash, with)
	same, _ := Want(deployment("web"), Ignore("spec.replicas"), InPhase("a")).With().hash()
	assert.Equal(t, hash, same)
	assert.Nil(t, Want(deployment("web")).With(InPhase("b")).how)
}

func TestChildOfAnotherObject(t *testing.T) {
	c := Want(deployment("web"), InPhase("a")).Immutable()
	config := &corev1.ConfigMap{}
	of := c.Of(config)
	assert.Same(t, config, of.Object())
	assert.IsType(t, &appsv1.Deployment{}, c.Object())
	assert.Equal(t, "a", of.phase)
	assert.Nil(t, of.immutable)
}
