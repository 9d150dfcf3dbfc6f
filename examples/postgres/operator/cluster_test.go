package operator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/armature-dev/armature/builder/program"
	"github.com/armature-dev/armature/devcluster"
	v1 "github.com/armature-dev/armature/examples/postgres/api/v1"
	"github.com/armature-dev/armature/examples/postgres/internal/pgtest"
	"github.com/armature-dev/armature/examples/postgres/operator"
	performers "github.com/armature-dev/armature/examples/postgres/server"
)

// cluster is a real API server, and the operator on it.
type cluster struct {
	*fixture
	config *rest.Config
	client client.Client
	log    *os.File // of all processes
}

// starts starts a process of the operator, and returns what ends it.
func (c *cluster) starts() (end func()) {
	c.Helper()
	mgr, err := ctrl.NewManager(c.config, ctrl.Options{
		Scheme:     c.client.Scheme(),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // a process after the other
		Logger:     logr.FromSlogHandler(slog.NewTextHandler(c.log, nil)),
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
	})
	require.NoError(c, err)
	require.NoError(c, operator.Database(mgr, pgtest.Server(c)).Complete())
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	return func() {
		cancel()
		require.NoError(c, <-done)
	}
}

// eventually waits until a step succeeds.
func (c *cluster) eventually(step func(context.Context, client.Client) error) {
	c.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { last = step(ctx, c.client); return last == nil, nil }); err != nil {
		c.Fatalf("%v: %v; the operator's log is\n%s", err, last, c.logged())
	}
}

func (c *cluster) logged() string {
	c.Helper()
	log, err := os.ReadFile(c.log.Name())
	require.NoError(c, err)
	return string(log)
}

// On a real API server a Database becomes ready, a new process repairs drift, an edit is carried out, and a deletion leaves nothing. The
// operator logs no password.
func TestRealCluster(t *testing.T) {
	f := newFixture(t, orders(shop()))
	require.NoError(t, pgtest.Reset(t.Context(), f.admin))
	c := &cluster{fixture: f, config: devcluster.Start(t, devcluster.WithoutControllers(), devcluster.WithManifests("../config"))}
	var err error
	c.log, err = os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer c.log.Close()
	c.client, err = client.New(c.config, client.Options{Scheme: program.NewScheme(v1.AddToScheme)})
	require.NoError(t, err)
	f.db.UID, f.db.Spec.DeletionPolicy = "", v1.Delete
	for _, obj := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, secret("shop", performers.PasswordKey, passwordOf("shop")), f.db,
	} {
		require.NoError(t, c.client.Create(t.Context(), obj))
	}

	end := c.starts()
	c.eventually(isReady)
	require.NoError(t, f.as("shop", "CREATE TABLE orders ()")(t.Context(), nil))
	end()

	require.NoError(t, f.drifts("DROP DATABASE k8s_team_orders WITH (FORCE)", "ALTER ROLE k8s_team_orders_shop PASSWORD 'stolen'")(t.Context(), nil))
	end = c.starts()
	c.eventually(f.as("shop", "CREATE TABLE IF NOT EXISTS orders ()"))
	c.eventually(change(func(db *v1.Database) { db.Spec.Users = nil }))
	c.eventually(f.has(database, role))
	require.NoError(t, deleted(t.Context(), c.client))
	c.eventually(func(ctx context.Context, k8s client.Client) error {
		if err := k8s.Get(ctx, client.ObjectKeyFromObject(f.db), f.db); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the Database is there: %w", err)
		}
		return nil
	})
	require.NoError(t, f.has()(t.Context(), nil))
	end()
	assert.Contains(t, c.logged(), "Starting Controller")
	assert.NotContains(t, c.logged(), passwordOf("shop"))
}
