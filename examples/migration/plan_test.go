package migration

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/builder/buildertest/world"
)

func scenario() buildertest.Scenario {
	owner := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"},
		Data:       map[string]string{"image": "example.com/shop:v1", "schema": "7", "settings": "a=1"},
	}
	return world.ScenarioOf(Operator, owner, scheme.Scheme)
}

func TestTheRecipe(t *testing.T) {
	server := buildertest.Settle(t, scenario())
	var made []string
	for _, c := range server.Ledger().Writes() {
		if c.Verb == buildertest.VerbCreate && c.Client == "operator" && c.Kind.Kind != "Event" && c.Err == nil {
			made = append(made, c.Kind.Kind)
		}
	}
	order := slices.DeleteFunc(made, func(kind string) bool { return kind == "ControllerRevision" })
	require.Equal(t, []string{"Secret", "Job", "Deployment"}, order)
	assert.Equal(t, 1, server.Ledger().Count(buildertest.VerbCreate, schema.GroupKind{Group: "batch", Kind: "Job"}))
}

func TestTheRecipeSurvivesCrashes(t *testing.T) {
	buildertest.CrashEverywhere(t, scenario())
}
