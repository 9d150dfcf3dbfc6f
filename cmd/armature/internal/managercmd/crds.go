package managercmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/armature-dev/armature/cmd/armature/internal/crdskew"
	"github.com/armature-dev/armature/config/crd"
)

// checkCRDs refuses CRDs that lack something of those that this program was built with. Newer ones will do. Who may not
// read CRDs is trusted to have the right ones.
func checkCRDs(ctx context.Context, reader client.Reader, operators []operator, logger logr.Logger) error {
	wanted, err := crd.All()
	if err != nil {
		return err
	}
	for _, want := range wanted {
		kind, _, _ := unstructured.NestedString(want.Object, "spec", "names", "kind")
		if !slices.ContainsFunc(operators, func(o operator) bool { return slices.Contains(o.kinds, kind) }) {
			continue
		}
		have := &unstructured.Unstructured{}
		have.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		err := reader.Get(ctx, client.ObjectKey{Name: want.GetName()}, have)
		if apierrors.IsForbidden(err) {
			logger.Info("may not read CRDs, so whether they are new enough isn't known", "crd", want.GetName())
			return nil
		}
		if err != nil {
			return fmt.Errorf("get the CRD %s: %w", want.GetName(), err)
		}
		if missing := crdskew.Missing(have, want); len(missing) > 0 {
			return fmt.Errorf("the CRD %s is older than this program needs: it lacks %s, which the API server would drop; "+
				"upgrade the CRDs first, with armature install or with the chart",
				want.GetName(), crdskew.Summary(missing))
		}
	}
	return nil
}
