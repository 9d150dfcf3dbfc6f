package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	v1 "github.com/armature-dev/armature/examples/kvstore/api/v1"
)

func TestTheScalingIsRead(t *testing.T) {
	text, err := os.ReadFile("scaling.yaml")
	require.NoError(t, err)
	var s v1.KVStoreScaling
	require.NoError(t, yaml.UnmarshalStrict(text, &s))
	require.Equal(t, "storage", s.Spec.Autoscaling[0].Name)
}
