package parseable_test

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
	"github.com/armature-dev/armature/examples/parseable"
	"github.com/armature-dev/armature/examples/parseable/api/v1beta1"
)

func example(t *testing.T, file string) *v1beta1.ParseableTenant {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p := &v1beta1.ParseableTenant{}
	require.NoError(t, yaml.UnmarshalStrict(text, p))
	p.Namespace, p.UID = "default", "parseable"
	return p
}

func TestTheManifestIsAccepted(t *testing.T) {
	plan := parseable.App().Plan(example(t, "parseable.yaml"), buildertest.NewView(time.Now()))
	require.Empty(t, plan.Events)
	var set *appsv1.StatefulSet
	var deployment *appsv1.Deployment
	for _, c := range plan.Children {
		switch o := c.Object().(type) {
		case *appsv1.StatefulSet:
			set = o
		case *appsv1.Deployment:
			deployment = o
		}
	}
	require.NotNil(t, set)
	require.NotNil(t, deployment)
	assert.Equal(t, "parseable-large", set.Name)
	assert.Len(t, set.Spec.VolumeClaimTemplates, 2)
	container := set.Spec.Template.Spec.Containers[0]
	assert.Equal(t, []string{"local-store"}, container.Args)
	assert.Contains(t, container.Env, corev1.EnvVar{Name: "P_ADDR", Value: "0.0.0.0:8000"})
	assert.Contains(t, container.Env, corev1.EnvVar{Name: "RUST_LOG", Value: "debug"})
	assert.NotContains(t, deployment.Spec.Template.Spec.Containers[0].Env, corev1.EnvVar{Name: "RUST_LOG", Value: "debug"})
	assert.Equal(t, "/parseable/data", deployment.Spec.Template.Spec.Containers[0].VolumeMounts[1].MountPath)
}

func TestBothNamesOfTheConfigAreAccepted(t *testing.T) {
	p := example(t, "parseable.yaml")
	p.Spec.ParseableConfig, p.Spec.ParseableConfigGroup = p.Spec.ParseableConfigGroup, nil
	assert.Empty(t, parseable.App().Plan(p, buildertest.NewView(time.Now())).Events)
	p.Spec.ParseableConfigGroup = p.Spec.ParseableConfig
	plan := parseable.App().Plan(p, buildertest.NewView(time.Now()))
	require.Len(t, plan.Events, 1)
	assert.Contains(t, plan.Events[0].Note, "are names of one field; want one of them")
}

func TestWhatParseableKnowsIsChecked(t *testing.T) {
	p := example(t, "parseable.yaml")
	p.Spec.ParseableConfigGroup[0].Data = "nonsense"
	plan := parseable.App().Plan(p, buildertest.NewView(time.Now()))
	require.Len(t, plan.Events, 1)
	assert.Contains(t, plan.Events[0].Note, `node "small": appConfigGroup "local": data: "nonsense" is no line NAME=value`)
}
