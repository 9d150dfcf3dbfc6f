package operator_test

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
	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
	"github.com/armature-dev/armature/examples/kvstore/operator"
)

func sample(t *testing.T) *v1.KVStore {
	text, err := os.ReadFile("../sample.yaml")
	require.NoError(t, err)
	kv := &v1.KVStore{}
	require.NoError(t, yaml.UnmarshalStrict(text, kv))
	kv.Namespace, kv.UID = "default", "kv"
	return kv
}

func TestTheSample(t *testing.T) {
	plan := operator.App("/programs").Plan(sample(t), buildertest.NewView(time.Now()))
	require.Empty(t, plan.Events)
	for _, c := range plan.Children {
		if set, ok := c.Object().(*appsv1.StatefulSet); ok {
			container := set.Spec.Template.Spec.Containers[0]
			assert.Equal(t, []string{"/programs/kvstore", "storage"}, container.Command)
			assert.Contains(t, container.Env, corev1.EnvVar{Name: "KV_DATA", Value: "/data"})
			assert.Contains(t, container.Env, corev1.EnvVar{Name: "KV_CONFIG", Value: "/etc/kvstore/runtime.properties"})
			return
		}
	}
	t.Fatal("there is no StatefulSet")
}

func TestOtherNodeTypesAreRefused(t *testing.T) {
	kv := sample(t)
	kv.Spec.DeploymentOrder[2], kv.Spec.Nodes[2].NodeType = "proxy", "proxy"
	plan := operator.App("").Plan(kv, buildertest.NewView(time.Now()))
	assert.Empty(t, plan.Children)
	assert.Equal(t, `node "gateway": nodeType is "proxy"; a KVStore has coordinator, storage, gateway`, plan.Events[0].Note)
}
