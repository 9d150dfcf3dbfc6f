package managercmd

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/armature-dev/armature/api/v1alpha1"
)

// kindsTimeout is how long the manager waits for its CRDs, which may have been applied a moment ago.
const kindsTimeout = 15 * time.Second

// awaitKinds says soon that a CRD is missing; the caches would wait for it for minutes.
func awaitKinds(ctx context.Context, mapper meta.RESTMapper, operators []operator, logger logr.Logger) error {
	missing := checkKinds(mapper, operators)
	if missing == nil {
		return nil
	}
	logger.Info("waiting for the CRDs", "for", kindsTimeout.String(), "missing", missing.Error())
	err := wait.PollUntilContextTimeout(ctx, time.Second, kindsTimeout, false, func(context.Context) (bool, error) {
		missing = checkKinds(mapper, operators)
		return missing == nil, nil
	})
	if err != nil {
		return missing
	}
	return nil
}

func checkKinds(mapper meta.RESTMapper, operators []operator) error {
	for _, op := range operators {
		for _, name := range op.kinds {
			kind := schema.GroupKind{Group: v1alpha1.GroupVersion.Group, Kind: name}
			_, err := mapper.RESTMapping(kind, v1alpha1.GroupVersion.Version)
			if meta.IsNoMatchError(err) {
				return fmt.Errorf("the cluster doesn't know the kind %s of %s: apply the CRDs first, with kubectl apply --server-side -f config/crd",
					name, v1alpha1.GroupVersion)
			}
			if err != nil {
				return fmt.Errorf("ask the cluster for the kind %s: %w", kind, err)
			}
		}
	}
	return nil
}
