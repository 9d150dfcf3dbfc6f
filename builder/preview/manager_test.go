package preview

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/undo"
)

// aManager returns a manager whose caches are filled with one ResourceQuota.
func aManager(t *testing.T) manager.Manager {
	t.Helper()
	scheme := clientgoscheme.Scheme
	mgr, err := ctrl.NewManager(&rest.Config{Host: "https://no-cluster.invalid"}, ctrl.Options{
		Scheme:     scheme,
		Logger:     logr.Discard(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return testrestmapper.TestOnlyStaticRESTMapper(scheme), nil
		},
		NewCache: func(*rest.Config, cache.Options) (cache.Cache, error) { return &informertest.FakeInformers{}, nil },
		NewClient: func(*rest.Config, client.Options) (client.Client, error) {
			owner := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner", UID: "1"}}
			return fake.NewClientBuilder().WithScheme(scheme).WithObjects(owner).Build(), nil
		},
	})
	require.NoError(t, err)
	return mgr
}

// setup completes an operator of ResourceQuotas that changes nothing.
func setup(mgr manager.Manager) error {
	plan := func(*corev1.ResourceQuota, builder.View) (p builder.Plan[*corev1.ResourceQuota]) { return p }
	return builder.NewOperator[*corev1.ResourceQuota](mgr, "unchanged").Plan(plan).Complete()
}

// Scripts iterate over the details, also if there are none.
func TestAReportWithoutDetailsHasAnEmptyList(t *testing.T) {
	around := Around(aManager(t))
	require.NoError(t, setup(around))
	report, err := around.Run(t.Context())
	require.NoError(t, err)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"details":[]`)
}

// A setup may give its operators features of its own, and the preview asks these operators, too.
func TestASetupThatWrapsTheManagerIsPreviewed(t *testing.T) {
	around := Around(aManager(t))
	keeping, err := undo.Around(around, undo.Options{Build: "1"})
	require.NoError(t, err)
	require.NoError(t, setup(keeping))
	report, err := around.Run(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, report.Owners)
	assert.Equal(t, 1, report.Unchanged, report.Details)
}

// A report of 0 owners would say that nothing changes.
func TestAPreviewOfNoOperatorIsAnError(t *testing.T) {
	_, err := Around(aManager(t)).Run(t.Context())
	require.EqualError(t, err, "the setup completes no operator with the manager of the preview")
}
