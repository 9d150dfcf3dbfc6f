package replicajob

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// askAgain is how often a job that waits for the API of its gang scheduler has the cluster asked for it.
const askAgain = 10 * time.Second

// gangAPIs are the gang schedulers whose APIs the cluster has. One that is installed later is found once a job names it.
type gangAPIs struct {
	scheme *runtime.Scheme
	mapper meta.RESTMapper
	own    func(context.Context, client.Object) error // has the operator watch a kind
	now    func() time.Time

	mu    sync.Mutex
	found []v1alpha1.GangProvider // replaced, never changed
	asked map[v1alpha1.GangProvider]time.Time
}

// newGangAPIs asks the cluster which gang schedulers' APIs it has.
func newGangAPIs(scheme *runtime.Scheme, mapper meta.RESTMapper) (*gangAPIs, error) {
	a := &gangAPIs{scheme: scheme, mapper: mapper, now: time.Now, asked: map[v1alpha1.GangProvider]time.Time{}}
	for _, provider := range []v1alpha1.GangProvider{
		v1alpha1.GangKubernetes, v1alpha1.GangVolcano, v1alpha1.GangSchedulerPlugins, v1alpha1.GangPodDisruptionBudget,
	} {
		served, err := a.isServed(provider)
		if err != nil {
			return nil, err
		}
		if served {
			a.found = append(a.found, provider)
		}
	}
	return a, nil
}

func (a *gangAPIs) isServed(provider v1alpha1.GangProvider) (bool, error) {
	gvk, err := apiutil.GVKForObject(gangKind(provider), a.scheme)
	if err == nil {
		_, err = a.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	switch {
	case meta.IsNoMatchError(err), apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("find the API of gang scheduler %s: %w", provider, err)
	default:
		return true, nil
	}
}

// forJob returns the gang schedulers that the cluster has, now that a job names this one.
func (a *gangAPIs) forJob(ctx context.Context, policy *v1alpha1.SchedulingPolicy) ([]v1alpha1.GangProvider, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if policy == nil || policy.Provider == "" || slices.Contains(a.found, policy.Provider) ||
		a.now().Before(a.asked[policy.Provider].Add(askAgain)) {
		return a.found, nil
	}
	a.asked[policy.Provider] = a.now()
	served, err := a.isServed(policy.Provider)
	if err != nil || !served {
		return a.found, err
	}
	if err := a.own(ctx, gangKind(policy.Provider)); err != nil {
		return a.found, err
	}
	a.found = append(slices.Clone(a.found), policy.Provider)
	return a.found, nil
}
