package quantity_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/armature-dev/armature/api/quantity"
	"github.com/armature-dev/armature/api/v1alpha1"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"1", "100m", "1Gi", "1.5", "12E18", "1e-3", "-1"} {
		got, err := quantity.Parse(text)
		require.NoError(t, err, text)
		assert.True(t, resource.MustParse(text).Equal(got), text)
	}
	// Without the bounds each of these takes from seconds to hours.
	for _, text := range []string{"1E-99999999", "1E2200000000", "1e+10000000", strings.Repeat("1", 1<<20) + "." + strings.Repeat("1", 1<<20), "1E1.5", "x", ""} {
		_, err := quantity.Parse(text)
		require.Error(t, err)
		assert.Less(t, len(err.Error()), 300)
	}
}

func TestCheckJSON(t *testing.T) {
	const long = "1E-99999999"
	flow := func(container, more string) string {
		return `{"spec":{"flows":[{"name":"a","jobTemplate":{"template":{"spec":{"containers":[{"name":"c",` + container + `}]` + more + `}}}}]}}`
	}
	container := "spec.flows[0].jobTemplate.template.spec.containers[0]"
	for object, want := range map[string]string{
		flow(`"resources":{"limits":{"cpu":"`+long+`"}}`, ""):                             container + ".resources.limits.cpu",
		flow(`"resources":{"requests":{"memory":"1\u0045-99999999"}}`, ""):                container + ".resources.requests.memory",
		flow(`"Resources":{"LIMITS":{"cpu":"`+long+`"}}`, ""):                             container + ".Resources.LIMITS.cpu",
		flow(`"image":"x"`, `,"volumes":[{"emptyDir":{"sizeLimit":"`+long+`"}}]`):         "volumes[0].emptyDir.sizeLimit", // inline
		flow(`"resources":{"limits":{"cpu":"`+strings.Repeat("9", 100)+`"}}`, ""):         "at most 64 characters",
		flow(`"env":[{"name":"A","value":"`+long+`"}],"command":["`+long+`"]`, ""):        "",
		flow(`"resources":{"limits":{"cpu":"100m"}},"image":"a\u0041"`, ""):               "",
		`{"metadata":{"labels":{"commit":"12e4567"}},"spec":{"flows":"` + long + `"}}`:    "",
		`{"spec":{"flows":[["` + long + `"],{"jobTemplate":"` + long + `"},null]}`:        "",
		`{"spec":{"flows":[["` + long + `"],{"jobTemplate":"` + long + `"},null,true]}} `: "",
	} {
		err := quantity.CheckJSON([]byte(object), reflect.TypeFor[*v1alpha1.JobFlow]())
		if want == "" {
			assert.NoError(t, err, object)
		} else {
			assert.ErrorContains(t, err, want, object)
		}
	}
}

// Every quantity of a pod is found, wherever Kubernetes puts the next one.
func TestCheckJSONKnowsWhatGoDecodes(t *testing.T) {
	text, err := json.Marshal(map[string]any{"spec": map[string]any{
		"overhead": map[string]any{"cpu": "1E1000"}, "resources": map[string]any{"limits": map[string]any{"cpu": "1"}},
	}})
	require.NoError(t, err)
	require.ErrorContains(t, quantity.CheckJSON(text, reflect.TypeFor[corev1.Pod]()), "spec.overhead.cpu")
}
