package pinot_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/builder/buildertest"
	"github.com/armature-dev/armature/examples/pinot"
	"github.com/armature-dev/armature/examples/pinot/api/v1beta1"
)

func example(t *testing.T) *v1beta1.Pinot {
	text, err := os.ReadFile("pinot.yaml")
	require.NoError(t, err)
	p := &v1beta1.Pinot{}
	require.NoError(t, yaml.UnmarshalStrict(text, p))
	p.Namespace, p.UID = "default", "pinot"
	return p
}

func TestTheManifestIsAccepted(t *testing.T) {
	p := example(t)
	plan := pinot.App().Plan(p, buildertest.NewView(time.Now()))
	require.Empty(t, plan.Events)
	assert.Equal(t, []string{"controller", "broker", "server", "minion"}, plan.Rollout.Phases)
	sets, deployments, configs := map[string]*appsv1.StatefulSet{}, map[string]*appsv1.Deployment{}, map[string]*corev1.ConfigMap{}
	for _, c := range plan.Children {
		switch o := c.Object().(type) {
		case *appsv1.StatefulSet:
			sets[o.Name] = o
		case *appsv1.Deployment:
			deployments[o.Name] = o
		case *corev1.ConfigMap:
			configs[o.Name] = o
		}
	}
	require.Len(t, sets, 3)
	require.Len(t, deployments, 2)
	assert.Equal(t, "controller.port=9000\ncontroller.data.dir=/var/pinot/controller/data\npinot.set.instance.id.to.hostname=true\n"+
		"controller.zk.str=zookeeper.zookeeper:2181\ncontroller.helix.cluster.name=pinot\n", configs["pinot-controller-config"].Data["pinot.conf"])
	broker := deployments["pinot-broker"].Spec.Template.Spec.Containers[0]
	assert.Equal(t, []string{
		"StartBroker", "-clusterName", "pinot", "-configFileName", "/var/pinot/config/pinot.conf", "-zkAddress", "zookeeper.zookeeper:2181",
	}, broker.Args)
	assert.Contains(t, broker.Env, corev1.EnvVar{Name: "JAVA_OPTS", Value: "-Xms256M -Xmx1G -XX:+UseG1GC"})
	assert.Equal(t, "server", sets["pinot-server-az2"].Spec.VolumeClaimTemplates[0].Name)
	assert.Equal(t, "data", deployments["pinot-minion"].Spec.Template.Spec.Volumes[0].Name)
}

func TestWhatPinotKnowsIsChecked(t *testing.T) {
	p := example(t)
	p.Spec.External = nil
	p.Spec.Nodes[4].NodeType, p.Spec.DeploymentOrder[3] = "worker", "worker"
	plan := pinot.App().Plan(p, buildertest.NewView(time.Now()))
	require.Len(t, plan.Events, 1)
	assert.Contains(t, plan.Events[0].Note, "external.zookeeper: there is none; want spec.zkAddress: host:port")
	assert.Contains(t, plan.Events[0].Note, `node "minion": nodeType is "worker"; want controller, broker, server or minion`)
	assert.Empty(t, plan.Children)
}
