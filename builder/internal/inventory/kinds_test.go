package inventory

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsAreWrittenAndRead(t *testing.T) {
	config, deploy := schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Group: "apps", Kind: "Deployment"}
	assert.Equal(t, "ConfigMap,Deployment.apps", FormatKinds(Kinds{}.Insert(deploy, config)))
	assert.Empty(t, FormatKinds(nil))
	for text, want := range map[string]Kinds{
		"":                           nil,
		"ConfigMap":                  Kinds{}.Insert(config),
		" Deployment.apps, ,,":       Kinds{}.Insert(deploy),
		"Deployment.apps,ConfigMap,": Kinds{}.Insert(deploy, config),
	} {
		assert.Equal(t, want, ParseKinds(text), text)
	}
	assert.Equal(t, []schema.GroupKind{config, deploy}, SortedKinds(Kinds{}.Insert(deploy, config)))
}
