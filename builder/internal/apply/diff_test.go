package apply

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/builder/internal/delta"
)

func TestSecretsAreHidden(t *testing.T) {
	for path, hides := range map[string]bool{
		`data["tls.key"]`: true, "data.a": true, "data": true, "stringData.a": true,
		`metadata.annotations["` + corev1.LastAppliedConfigAnnotation + `"]`: true,
		"metadata.labels.a": false, "type": false,
	} {
		assert.Equal(t, hides, holdsSecret(path), path)
	}
	assert.Equal(t, delta.Change{Path: "p", New: "***"}, hidden(delta.Change{Path: "p", New: "x"}))
	assert.Equal(t, delta.Change{Path: "p", Old: "***"}, hidden(delta.Change{Path: "p", Old: "x"}))
	assert.Equal(t, delta.Change{Path: "p", Old: "*** (before)", New: "*** (after)"}, hidden(delta.Change{Path: "p", Old: "x", New: "y"}))
}
