package builder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/builder/readiness"
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
	more := c.with(Ignore("spec.paused"), ReadyWhen(func(client.Object) readiness.Status { return readiness.Status{Failed: true} }))
	other := c.with(Ignore("spec.revisionHistoryLimit"))
	assert.Equal(t, []string{"spec.replicas"}, c.how.Ignored, "it stays as it is")
	assert.Equal(t, []string{"spec.replicas", "spec.paused"}, more.how.Ignored)
	assert.Equal(t, []string{"spec.replicas", "spec.revisionHistoryLimit"}, other.how.Ignored)
	assert.Equal(t, "a", more.phase)
	assert.NotNil(t, more.readyWhen)
	assert.Nil(t, c.readyWhen)
	with, _ := more.hash()
	assert.NotEqual(t, hash, with)
	same, _ := Want(deployment("web"), Ignore("spec.replicas"), InPhase("a")).with().hash()
	assert.Equal(t, hash, same)
	assert.Nil(t, Want(deployment("web")).with(InPhase("b")).how)
}
