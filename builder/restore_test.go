package builder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/armature-dev/armature/builder/internal/apply"
	"github.com/armature-dev/armature/builder/internal/revision"
	"github.com/armature-dev/armature/builder/rollout"
)

func TestEditedRevisionsAreOfNoOtherObjects(t *testing.T) {
	e := engineWith(interceptor.Funcs{})
	_, err := e.For(owner()).Rollout(rollout.Options{Phases: []string{"only"}, InstallInOrder: true}).
		Deployment(deployment("web"), InPhase("only")).Reconcile(t.Context())
	require.NoError(t, err)
	p, err := e.newPass(owner())
	require.NoError(t, err)
	all, err := (&phasedChildren{pass: p}).Owned(t.Context(), &appsv1.ControllerRevision{})
	require.NoError(t, err)
	s, err := revision.ReadSnapshot(all[0].(*appsv1.ControllerRevision).Data.Raw)
	require.NoError(t, err)
	good := s.Children[0]
	_, err = p.cluster.Restore(&good, apply.Child{})
	require.NoError(t, err)
	for name, change := range map[string]func(*revision.Child){
		"not JSON":      func(c *revision.Child) { c.Payload = []byte("{") },
		"another kind":  func(c *revision.Child) { c.Kind = "StatefulSet" },
		"another name":  func(c *revision.Child) { c.Name = "other" },
		"another place": func(c *revision.Child) { c.Namespace = "other" },
		"elsewhere": func(c *revision.Child) {
			c.Namespace = "kube-system"
			c.Payload = []byte(strings.ReplaceAll(string(c.Payload), `"namespace":"default"`, `"namespace":"kube-system"`))
		},
		"another owner": func(c *revision.Child) {
			c.Payload = []byte(strings.ReplaceAll(string(c.Payload), "owner-uid", "other-uid"))
		},
		"no metadata": func(c *revision.Child) { c.Payload = []byte(`{"apiVersion":"apps/v1","kind":"Deployment"}`) },
		"unknown":     func(c *revision.Child) { c.Kind, c.Payload = "X", []byte(`{"apiVersion":"apps/v1","kind":"X"}`) },
	} {
		bad := good
		change(&bad)
		_, err := p.cluster.Restore(&bad, apply.Child{})
		assert.Error(t, err, name)
	}
}
