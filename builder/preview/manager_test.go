package preview

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// noManager is a manager whose caches are filled.
type noManager struct{ manager.Manager }

func (noManager) GetCache() cache.Cache    { return &informertest.FakeInformers{} }
func (noManager) GetClient() client.Client { return fake.NewClientBuilder().Build() }

// Scripts iterate over the details, also if there are none.
func TestAReportWithoutDetailsHasAnEmptyList(t *testing.T) {
	report, err := Around(noManager{}).Run(t.Context())
	require.NoError(t, err)
	text, err := json.Marshal(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"details":[]`)
}
