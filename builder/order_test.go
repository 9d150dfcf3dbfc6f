package builder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/rollout"
)

// withConfig gives the Deployment of the phase broker a ConfigMap with its image.
func (w *phasedWorld) withConfig() {
	w.more = func(b *builder.Builder) {
		config := newConfigMap("default", "broker", "")
		config.Data = map[string]string{"for": w.images["broker"]}
		b.ConfigMap(config, builder.InPhase("broker"))
	}
}

// Pods read their configuration once, when they start: it must be there before them, on the way forth and back.
func TestConfigurationIsWrittenFirst(t *testing.T) {
	w := newPhasedWorld(t)
	w.options = rollout.Options{RollbackAfter: time.Minute}
	w.withConfig()
	w.pass()
	assert.Equal(t, "create ConfigMap default/broker", w.writes[0])
	w.rollOut(phaseNames...)
	w.pass()
	w.images["broker"] = "v2"
	w.pass()
	require.Greater(t, len(w.writes), 4)
	assert.Equal(t, []string{
		"patch ConfigMap default/broker", "apply ConfigMap default/broker",
		"patch Deployment.apps default/broker", "apply Deployment.apps default/broker",
	}, w.writes[1:5], "after the revision; a patch records the fields")

	w.step(2 * time.Minute)
	w.pass()
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	back := strings.Join(w.writes, ", ")
	assert.Contains(t, back, "apply ConfigMap default/broker, apply Deployment.apps default/broker")
}

// If it can't be written, the pods must not start: they would have the old one for good.
func TestNothingStartsBeforeItsConfiguration(t *testing.T) {
	w := newPhasedWorld(t)
	w.withConfig()
	w.install()
	w.images["broker"] = "v2"
	w.ours.Fail(buildertest.Fault{Verb: buildertest.VerbApply, Kind: schema.GroupKind{Kind: "ConfigMap"}})
	_, err := w.passErr()
	require.True(t, apierrors.IsInternalError(err), "%v", err)
	w.ours.Heal()
	assert.Equal(t, "v1 v1 v1", w.deployed())
	w.pass()
	assert.Equal(t, "v1 v2 v1", w.deployed())
}
