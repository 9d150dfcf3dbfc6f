package preview

import (
	"context"
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/types"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SubResource returns a client that also answers dry runs of patches of a status itself if the credentials don't permit them.
func (e *estimator) SubResource(name string) client.SubResourceClient {
	return statusEstimator{SubResourceClient: e.Client.SubResource(name), of: e}
}

type statusEstimator struct {
	client.SubResourceClient
	of *estimator
}

func (s statusEstimator) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	err := s.SubResourceClient.Patch(ctx, obj, patch, opts...)
	options := (&client.SubResourcePatchOptions{}).ApplyOptions(opts)
	if patch.Type() != types.MergePatchType || !s.of.instead(err, options.DryRun, "patch", obj) {
		return err
	}
	return s.of.merge(ctx, obj, patch)
}

// merge sets obj to what a merge patch would make of the live object.
func (e *estimator) merge(ctx context.Context, obj client.Object, patch client.Patch) error {
	if err := e.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	live, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	merged, err := jsonpatch.MergePatch(live, body)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := kjson.Unmarshal(merged, &fields); err != nil {
		return err
	}
	return set(obj, fields)
}
