package minicluster

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// A key that someone adds to one of the cluster's ConfigMaps is in no pod: the scripts would run it.
func TestConfigMapsAreMountedByKey(t *testing.T) {
	for name, change := range map[string]func(c *v1alpha1.MiniCluster){
		"batch":        func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Command = "true" },
		"with pieces":  func(c *v1alpha1.MiniCluster) { c.Spec.Containers[0].Commands.Pre = "true" },
		"without flux": func(c *v1alpha1.MiniCluster) { c.Spec.Flux.Disable = true },
	} {
		c := &v1alpha1.MiniCluster{Spec: v1alpha1.MiniClusterSpec{Size: 2, Containers: []v1alpha1.MiniClusterContainer{{Image: "i"}}}}
		c.Name = "mc"
		change(c)
		have := map[string]*corev1.ConfigMap{scriptsName(c): scriptsMap(c), configName(c): configMap(c)}
		mounted := 0
		for _, volume := range ownVolumes(c) {
			if volume.ConfigMap == nil {
				continue
			}
			mounted++
			var keys []string
			for _, item := range volume.ConfigMap.Items {
				assert.Equal(t, item.Key, item.Path)
				keys = append(keys, item.Key)
			}
			assert.Equal(t, slices.Sorted(maps.Keys(have[volume.ConfigMap.Name].Data)), keys, "%s: %s", name, volume.Name)
		}
		assert.Positive(t, mounted, name)
	}
}
