package preview

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/armature-dev/armature/builder"
	"github.com/armature-dev/armature/builder/internal/kinds"
	"github.com/armature-dev/armature/builder/internal/sources"
)

// parallelism is the number of owners that are looked at at once.
const parallelism = 8

// Manager is a manager that starts no controller: set up operators with it, and call Run.
type Manager struct {
	manager.Manager
	client    *estimator
	operators []operator
}

type operator struct {
	name  string
	owner client.Object // an empty one
	diff  func(context.Context, types.NamespacedName) (builder.Result, error)
}

// Around returns a manager for a preview. The manager given is never started: Run uses its cache and its client.
func Around(mgr manager.Manager) *Manager {
	return &Manager{Manager: mgr, client: newEstimator(mgr.GetClient())}
}

// GetClient returns a client that answers dry runs itself if the credentials don't permit the write: see Report.Estimated.
func (m *Manager) GetClient() client.Client { return m.client }

// Add ignores what operators want to run: controllers, webhooks and timers.
func (m *Manager) Add(manager.Runnable) error { return nil }

// AddOperator adds an operator to the preview. [builder.Operator.Complete] calls it.
func (m *Manager) AddOperator(
	name string, owner client.Object, diff func(context.Context, types.NamespacedName) (builder.Result, error),
) {
	m.operators = append(m.operators, operator{name, owner, diff})
}

// Run fills the manager's caches, asks each operator about each of its owners, and returns the report. It may be called once. An error of
// one owner is in the report. Run returns an error if no operator was completed, if it can't list the owners, if the caches aren't filled
// within 2 minutes, or if ctx ends first; the error contains the cause of ctx.
func (m *Manager) Run(ctx context.Context) (*Report, error) {
	if len(m.operators) == 0 { // a report of 0 owners would mean that there is nothing to change
		return nil, errors.New("the setup completes no operator with the manager of the preview")
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- m.GetCache().Start(ctx) }()
	report, err := m.preview(ctx)
	stop()
	return report, errors.Join(err, <-ended)
}

func (m *Manager) preview(ctx context.Context) (*Report, error) {
	if err := m.fillCaches(ctx); err != nil {
		return nil, err
	}
	report := &Report{Details: []Owner{}} // JSON would write nil as null
	for _, op := range m.operators {
		gvk, err := apiutil.GVKForObject(op.owner, m.GetScheme())
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", op.name, err)
		}
		keys, err := m.owners(ctx, gvk)
		if err != nil {
			return nil, fmt.Errorf("operator %s: %w", op.name, err)
		}
		report.Owners += len(keys)
		owners := make([]Owner, len(keys))
		workqueue.ParallelizeUntil(ctx, parallelism, len(keys), func(i int) {
			res, err := op.diff(ctx, keys[i])
			owners[i] = ownerOf(gvk.GroupKind(), keys[i], res, err)
		})
		report.add(owners)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	report.sort()
	report.Estimated = m.client.all()
	return report, nil
}

// fillCaches waits until the caches have all objects that the operators read. A cache retries a list that is refused for ever.
func (m *Manager) fillCaches(ctx context.Context) error {
	const limit = 2 * time.Minute
	limited, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf(
		"they aren't filled after %s; do the credentials permit to list and watch all kinds that the operators read?", limit))
	defer stop()
	if !m.GetCache().WaitForCacheSync(limited) {
		return fmt.Errorf("wait for the caches: %w", context.Cause(limited))
	}
	return nil
}

// owners lists the owners of a kind, ordered by namespace and name.
func (m *Manager) owners(ctx context.Context, gvk schema.GroupVersionKind) ([]types.NamespacedName, error) {
	owners, err := sources.Reader{From: m.client, Kinds: kinds.New(m.client, time.Now)}.List(ctx, kinds.Kind{GVK: gvk}, nil)
	keys := make([]types.NamespacedName, len(owners))
	for i, o := range owners {
		keys[i] = client.ObjectKeyFromObject(o)
	}
	slices.SortFunc(keys, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return keys, err
}
