package v1alpha1_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestConditionsIsThePlaceInTheStatus(t *testing.T) {
	var flow v1alpha1.JobFlow
	*flow.Conditions() = []metav1.Condition{{Type: "Ready"}}
	assert.Equal(t, "Ready", flow.Status.Conditions[0].Type)
}

func TestWhatIsEmptyIsNotSent(t *testing.T) {
	flow := v1alpha1.JobFlow{Spec: v1alpha1.JobFlowSpec{Flows: []v1alpha1.Flow{{Name: "a", JobTemplateRef: "t"}}}}
	text, err := json.Marshal(flow)
	require.NoError(t, err)
	assert.JSONEq(t, `{"spec": {"flows": [{"name": "a", "jobTemplateRef": "t"}]}}`, string(text))
}
