package builder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/builder/rollout"
)

// withConfig gives the Deployment of the phase broker a ConfigMap, with the image in it.
func (w *town) withConfig() {
	w.change = func(b *Builder) {
		b.ConfigMap(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "broker"}, Data: map[string]string{"for": w.images["broker"]},
		}, InPhase("broker"))
	}
}

// Pods read their configuration once, when they start: it must be there before them, on the way forth and back.
func TestConfigurationIsWrittenFirst(t *testing.T) {
	w := newTown(t)
	w.options = rollout.Options{RollbackAfter: time.Minute}
	w.withConfig()
	w.pass()
	assert.Equal(t, "create ConfigMap broker", w.writes[0])
	w.settle(phaseNames...)
	w.pass()
	w.images["broker"] = "v2"
	w.pass()
	require.Greater(t, len(w.writes), 2)
	assert.Equal(t, []string{"patch ConfigMap broker", "patch Deployment broker"}, w.writes[1:3], "after the revision")

	w.now = w.now.Add(2 * time.Minute)
	w.pass()
	w.pass()
	assert.Equal(t, "v1 v1 v1", w.running())
	back := strings.Join(w.writes, ", ")
	assert.Contains(t, back, "patch ConfigMap broker, patch Deployment broker")
}

// If it can't be written, the pods must not start: they would have the old one for good.
func TestNothingStartsBeforeItsConfiguration(t *testing.T) {
	w := newTown(t)
	w.withConfig()
	w.install()
	w.images["broker"] = "v2"
	w.budget = 1 // the revision
	_, err := w.passErr()
	require.ErrorIs(t, err, errCrash)
	w.budget = -1
	assert.Equal(t, "v1 v1 v1", w.running())
	w.pass()
	assert.Equal(t, "v1 v2 v1", w.running())
}
