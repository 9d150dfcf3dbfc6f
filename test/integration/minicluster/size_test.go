package minicluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestScale(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("elastic", 2, "sleep 600", func(c *v1alpha1.MiniCluster) { c.Spec.MaxSize, c.Spec.MinSize = 4, 0 })
	p.wait("elastic", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterPodsReady) })
	leader := p.pods("elastic")["0"].UID
	scale := func(n string) (string, error) { return p.Kubectl("scale", "minicluster/elastic", "--replicas="+n) }

	out, err := scale("5")
	assert.Error(t, err)
	assert.Contains(t, out, "size is over maxSize")
	out, err = scale("4")
	require.NoError(t, err, out)
	p.wait("elastic", "there are 4", func(c *v1alpha1.MiniCluster) bool {
		return isTrue(c, v1alpha1.MiniClusterPodsReady) && c.Status.Size == 4
	})
	out, err = scale("2")
	require.NoError(t, err, out)
	p.wait("elastic", "there are 2", func(c *v1alpha1.MiniCluster) bool {
		return isTrue(c, v1alpha1.MiniClusterPodsReady) && c.Status.Size == 2 && len(p.pods("elastic")) == 2
	})
	assert.Contains(t, p.pods("elastic"), "0")
	assert.Contains(t, p.pods("elastic"), "1")
	assert.Equal(t, leader, p.pods("elastic")["0"].UID, "down by the highest ranks")
	out, err = p.Kubectl("get", "--raw", "/apis/api.practice.com/v1alpha1/namespaces/"+p.Namespace+"/miniclusters/elastic/scale")
	require.NoError(t, err)
	assert.Contains(t, out, `"replicas":2`)
	assert.Contains(t, out, `"selector":"api.practice.com/minicluster-uid=`)

	out, err = p.Kubectl("patch", "mc", "elastic", "--type=merge", "-p", `{"spec":{"maxSize":6}}`)
	assert.Error(t, err)
	assert.Contains(t, out, "spec.maxSize can't be changed once the MiniCluster has started")
	out, err = p.Kubectl("patch", "mc", "elastic", "--type=merge", "-p", `{"spec":{"containers":[{"image":"other"}]}}`)
	assert.Error(t, err)
	assert.Contains(t, out, "can't be changed once the MiniCluster has started")
}

func TestWithoutMaxSizeItCantGrow(t *testing.T) {
	p := newPlace(t)
	p.manage()
	p.create("fixed", 2, "sleep 600")
	p.wait("fixed", "it runs", func(c *v1alpha1.MiniCluster) bool { return isTrue(c, v1alpha1.MiniClusterRunning) })
	out, err := p.Kubectl("scale", "minicluster/fixed", "--replicas=3")
	assert.Error(t, err)
	assert.Contains(t, out, "status.maximumSize")
	out, err = p.Kubectl("scale", "minicluster/fixed", "--replicas=1")
	assert.NoError(t, err, out)
	p.wait("fixed", "it is smaller", func(c *v1alpha1.MiniCluster) bool { return c.Status.Size == 1 })
}
