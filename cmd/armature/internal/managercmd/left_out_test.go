package managercmd

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// A namespace without the manager's role bindings is left out, unless they come soon, or are missing everywhere.
func TestLeftOutNamespaces(t *testing.T) {
	operators, err := selectOperators([]string{"*"})
	require.NoError(t, err)
	leftOut := func(watched []string, bound map[string]time.Duration) []string {
		var names []string
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			c := fake.NewClientBuilder().WithScheme(newScheme()).WithInterceptorFuncs(interceptor.Funcs{
				List: func(_ context.Context, _ client.WithWatch, _ client.ObjectList, opts ...client.ListOption) error {
					namespace := (&client.ListOptions{}).ApplyOptions(opts).Namespace
					if after, ok := bound[namespace]; !ok || time.Since(begin) < after {
						return apierrors.NewForbidden(schema.GroupResource{Resource: "jobflows"}, "", nil)
					}
					return nil
				},
			}).Build()
			names = options{watchNamespaces: watched}.forbidden(t.Context(), c, operators, leftOutTimeout, logr.Discard())
		})
		return names
	}
	assert.Empty(t, leftOut([]string{"a", "b"}, map[string]time.Duration{"a": 0, "b": 0}))
	assert.Equal(t, []string{"b"}, leftOut([]string{"a", "b"}, map[string]time.Duration{"a": 0}))
	assert.Empty(t, leftOut([]string{"a", "b"}, map[string]time.Duration{"a": 0, "b": 5 * time.Second}), "applied a moment later")
	assert.Empty(t, leftOut([]string{"a", "b"}, nil), "it waits for its permissions")
}

// A manager says what it leaves out to those who look for it, and decides nothing about reservations there, but it is the same manager.
func TestIdentityWithoutWhatIsLeftOut(t *testing.T) {
	o := options{
		kube: genericclioptions.NewConfigFlags(true), leaderElectNamespace: "ops", leaderElectName: leaseName,
		operators: []string{"*"}, watchNamespaces: []string{"b", "a"},
	}
	all, err := o.queueManager()
	require.NoError(t, err)
	o.leftOut = []string{"b"}
	some, err := o.queueManager()
	require.NoError(t, err)
	assert.Equal(t, all.Name, some.Name)
	assert.Equal(t, []string{"a"}, some.Namespaces)
	scope, err := o.scope()
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, scope.Namespaces)
	assert.Equal(t, []string{"b", "a"}, o.watchNamespaces)
}
