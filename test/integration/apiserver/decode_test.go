package apiserver

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/armature-dev/armature/api/v1alpha1"
	"github.com/armature-dev/armature/test/integration/internal/harness"
)

// An operator whose cache can't decode one object receives none of its kind, in any namespace. The schemas refuse such objects, and admit
// what is like them.
func TestWhatGoDoesNotReadIsRefused(t *testing.T) {
	p := harness.Connect(t, "JobFlow", patience, "config/crd", v1alpha1.AddToScheme)
	flow := func(name, created, cpu, port string) *unstructured.Unstructured {
		obj := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(fmt.Appendf(nil, `
apiVersion: api.practice.com/v1alpha1
kind: JobFlow
metadata: {namespace: %s, name: %s}
spec:
  suspend: true
  flows:
  - name: a
    jobTemplate:
      template:
        metadata: {creationTimestamp: %s}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {limits: {cpu: %s}}, livenessProbe: {httpGet: {port: %s}}}]
`, p.Namespace, name, created, cpu, port), &obj.Object))
		return obj
	}
	for name, tt := range map[string]struct{ created, cpu, port, want string }{
		"lower-case-time":     {created: `"2014-12-15t08:00:00z"`, want: "creationTimestamp"},
		"list-for-time":       {created: `[]`, want: "creationTimestamp"},
		"offset":              {created: `"2014-12-15T08:00:00+99:00"`, want: "creationTimestamp"},
		"fractional-exponent": {cpu: `"1E1.5"`, want: "limits.cpu"},
		"small-quantity":      {cpu: `"1E-999999999"`, want: "limits.cpu"},
		"large-quantity":      {cpu: `"1E2200000000"`, want: "limits.cpu"},
		"large-port":          {port: `99999999999`, want: "httpGet.port"},
		"ordinary":            {created: `"2014-12-15T08:00:00Z"`, cpu: `"1e-3"`, port: `http`},
		"ordinary-too":        {created: `"2014-12-15T08:00:00.5+01:00"`, cpu: `2`, port: `80`},
	} {
		or := func(text, otherwise string) string {
			if text == "" {
				return otherwise
			}
			return text
		}
		err := p.Client.Create(t.Context(), flow(name, or(tt.created, "null"), or(tt.cpu, "1m"), or(tt.port, "80")))
		if tt.want == "" {
			require.NoError(t, err, name)
			continue
		}
		assert.True(t, apierrors.IsInvalid(err), "%s: %v", name, err)
		assert.ErrorContains(t, err, tt.want, name)
	}
	var all v1alpha1.JobFlowList
	require.NoError(t, p.Client.List(t.Context(), &all))
}
