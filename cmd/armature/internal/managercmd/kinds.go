package managercmd

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// kindsTimeout is how long the manager waits for its CRDs, which may have been applied a moment ago.
const kindsTimeout = 15 * time.Second

// awaitKinds says soon that a CRD is missing or too old; the caches would wait for a missing one for minutes, and the API
// server would drop, without a word, fields that an old one doesn't know.
func awaitKinds(ctx context.Context, mgr ctrl.Manager, operators []operator, logger logr.Logger) error {
	check := func() error {
		if err := checkKinds(mgr.GetRESTMapper(), operators); err != nil {
			return err
		}
		return checkCRDs(ctx, mgr.GetAPIReader(), operators, logger)
	}
	wrong := check()
	if wrong == nil {
		return nil
	}
	logger.Info("waiting for the CRDs", "for", kindsTimeout.String(), "now", wrong.Error())
	err := wait.PollUntilContextTimeout(ctx, time.Second, kindsTimeout, false, func(context.Context) (bool, error) {
		wrong = check()
		return wrong == nil, nil
	})
	if err != nil {
		return wrong
	}
	return nil
}

func checkKinds(mapper meta.RESTMapper, operators []operator) error {
	for _, op := range operators {
		for _, name := range op.kinds {
			kind := schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: name}
			_, err := mapper.RESTMapping(kind, v1alpha1.GroupVersion.Version)
			if meta.IsNoMatchError(err) {
				return fmt.Errorf("the cluster doesn't know the kind %s of %s: install the CRDs first, with armature install",
					name, v1alpha1.GroupVersion)
			}
			if err != nil {
				return fmt.Errorf("ask the cluster for the kind %s: %w", kind, err)
			}
		}
	}
	return nil
}
