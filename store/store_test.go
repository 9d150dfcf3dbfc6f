package store

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	web    = Key{Group: "apps", Kind: "Deployment", Namespace: "default", Name: "web"}
	config = Key{Kind: "ConfigMap", Namespace: "default", Name: "web"}
	node   = Key{Kind: "Node", Name: "n"}
)

func TestKey(t *testing.T) {
	assert.Equal(t, web, KeyOf(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "default", "web"))
	assert.Equal(t, "Deployment.apps default/web", web.String())
	assert.Equal(t, "ConfigMap default/web", config.String())
	assert.Equal(t, "Node n", node.String())
	assert.Equal(t, schema.GroupKind{Group: "apps", Kind: "Deployment"}, web.GroupKind())
	assert.Equal(t, types.NamespacedName{Namespace: "default", Name: "web"}, web.NamespacedName())
}

func TestNothingIsStaleOfNothing(t *testing.T) {
	var s Store
	assert.Empty(t, s.Stale(nil))
}

func TestStore(t *testing.T) {
	var s Store
	assert.False(t, s.Has(web), "the zero value is empty")
	assert.Zero(t, s.Len())
	assert.Empty(t, s.Keys())
	assert.Equal(t, []Key{web}, s.Stale(slices.Values([]Key{web})))

	assert.True(t, s.Put(web))
	assert.False(t, s.Put(web), "twice")
	assert.True(t, s.Put(node))
	assert.True(t, s.Put(config), "of the same name, but another kind")
	assert.Equal(t, 3, s.Len())
	assert.Equal(t, []Key{config, node, web}, s.Keys())
	assert.Equal(t, map[schema.GroupKind]bool{config.GroupKind(): true, node.GroupKind(): true, web.GroupKind(): true}, s.GroupKinds())

	elsewhere := web
	elsewhere.Namespace = "other"
	assert.Equal(t, []Key{elsewhere}, s.Stale(slices.Values([]Key{web, elsewhere, config})))
	assert.Nil(t, s.Stale(slices.Values([]Key(nil))))
}
